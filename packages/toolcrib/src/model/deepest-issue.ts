import type { z } from 'zod';

/** A union says only "invalid input"; the branch that came furthest says what is wrong. */
export function deepestIssue(issue: z.core.$ZodIssue | undefined): z.core.$ZodIssue | undefined {
  if (issue?.code !== 'invalid_union' || issue.errors.length === 0) return issue;
  const inner = issue.errors.map((issues) => issues[0]).filter((candidate) => candidate !== undefined);
  const best = inner.reduce<z.core.$ZodIssue | undefined>(
    (found, next) => (found === undefined || next.path.length > found.path.length ? next : found),
    undefined,
  );
  return best === undefined ? issue : deepestIssue({ ...best, path: [...issue.path, ...best.path] });
}

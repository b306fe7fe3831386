import type { z } from 'zod';
import { deepestIssue } from '../../model/deepest-issue.ts';

export interface ExplainedIssue {
  path: (string | number)[];
  message: string;
}

/** The first problem and its path, worded for the author of the file. */
export function explainIssue(error: z.ZodError): ExplainedIssue {
  const issue = deepestIssue(error.issues[0]);
  if (issue === undefined) return { path: [], message: 'does not fit' };
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  if (issue.code === 'unrecognized_keys') return { path: [...path, issue.keys[0] ?? ''], message: 'there is no such field' };
  if (issue.code === 'invalid_key') return { path, message: issue.issues[0]?.message ?? issue.message };
  return { path, message: issue.message };
}

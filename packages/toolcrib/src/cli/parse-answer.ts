import type { z } from 'zod';
import { CribError } from '../model/crib-error.ts';

/** The answer of a server, checked against the contract. */
export function parseAnswer<Schema extends z.ZodType>(schema: Schema, value: unknown, url: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
  throw new CribError('NETWORK_ERROR', `${url} gave an unexpected answer${where}: is it a Toolcrib of this version?`, {
    cause: parsed.error,
  });
}

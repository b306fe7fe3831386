import { z } from 'zod';
import { CribError, httpStatusByCode, type ErrorCode } from '../model/crib-error.ts';
import type { Json } from '../model/json.ts';
import { origins } from '../model/origin.ts';
import { UnknownOutcomeError } from './unknown-outcome-error.ts';

const codes = Object.keys(httpStatusByCode) as [ErrorCode, ...ErrorCode[]];

/** How a step ended. Failures are stored too: a resumed job must make the same decisions again. */
const stepOutcomeSchema = z.union([
  z.strictObject({ result: z.unknown() }),
  z.strictObject({ unknown: z.string() }),
  z.strictObject({
    code: z.enum(codes),
    message: z.string(),
    retryable: z.boolean(),
    field: z.string().optional(),
    retryAfterMs: z.number().optional(),
    upstreamStatus: z.number().optional(),
    details: z.unknown().optional(),
    origin: z.enum(origins).optional(),
  }),
]);

export function writeResult(result: Json): string {
  return JSON.stringify({ result });
}

export function writeUnknown(unknown: string): string {
  return JSON.stringify({ unknown });
}

/** Undefined for an error other than `CribError`, which is not stored. */
export function writeFailure(error: unknown): string | undefined {
  if (error instanceof UnknownOutcomeError) return writeUnknown(error.message);
  if (!(error instanceof CribError)) return undefined;
  const { code, message, retryable, field, retryAfterMs, upstreamStatus, details, origin } = error;
  return JSON.stringify({ code, message, retryable, field, retryAfterMs, upstreamStatus, details, origin });
}

/** Returns the stored result, or throws the stored failure. */
export function readOutcome(text: string): Json {
  const outcome = stepOutcomeSchema.parse(JSON.parse(text));
  if ('result' in outcome) return outcome.result as Json;
  if ('unknown' in outcome) throw new UnknownOutcomeError(outcome.unknown);
  const { code, message, details, ...options } = outcome;
  throw new CribError(code, message, { ...defined(options), ...(details === undefined ? {} : { details: details as Json }) });
}

function defined<Fields extends object>(fields: Fields): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };
}

import { z } from 'zod';

/** When a source or tool that keeps failing is left alone for a while. */
const breakerSchema = z.strictObject({
  failures: z.int().min(0).max(1000).default(5).describe('Failures in a row after which calls are refused at once; 0 never refuses'),
  open_ms: z.int().min(1).max(3_600_000).default(30_000).describe('How long calls are refused before one may try again'),
});
export type BreakerLimits = z.infer<typeof breakerSchema>;

/** [EXEC-7] Limits an administrator may set on one source or one tool; where both have one, both hold. The server's default applies to absent fields. */
export const callLimitsSchema = z.strictObject({
  timeout_ms: z.int().min(1).max(3_600_000).optional().describe('Longest time one call may take'),
  concurrency: z.int().min(1).max(10_000).optional().describe('Calls that may run at once, over all callers'),
  queue: z.int().min(0).max(10_000).optional().describe('Calls that may wait for a free place; none by default'),
  rate_per_second: z.number().positive().max(1_000_000).optional().describe('Sustained calls per second, over all callers'),
  burst: z.int().min(1).max(1_000_000).optional().describe('Calls that may come at once before the rate applies'),
  response_bytes: z.int().min(1024).max(33_554_432).optional().describe('Largest answer that is given whole; a larger one is cut and kept'),
  breaker: breakerSchema.optional(),
});
export type CallLimits = z.infer<typeof callLimitsSchema>;

/** The very same object wherever there are none, so that a call of a tool without limits is told from others by one comparison. */
export const noLimits: CallLimits = Object.freeze({});

/** The default for remote sources: one that is down must not cost every caller the whole timeout. */
export const remoteBreaker: BreakerLimits = { failures: 5, open_ms: 30_000 };

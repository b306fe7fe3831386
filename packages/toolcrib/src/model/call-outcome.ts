import type { ToolOutput } from './call.ts';

/** Takes the outcome of one call. Exactly one of the two is called, once. */
export interface CallOutcome {
  answered(output: ToolOutput): void;
  failed(error: unknown): void;
}

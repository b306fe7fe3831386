import type { ToolOutput } from '../../model/call.ts';
import { failedOutput, structuredOutput } from './builtin-tool.ts';
import type { WorkOutcome } from '../../threads/compute/work.ts';

/** The outcome of a computation as a tool's output. After a failure, `advice` says what to change. */
export function computeOutput(outcome: WorkOutcome, advice: string): ToolOutput {
  if ('failure' in outcome) return failedOutput(`${outcome.failure} ${advice}`);
  return structuredOutput(JSON.parse(outcome.structured), outcome.text);
}

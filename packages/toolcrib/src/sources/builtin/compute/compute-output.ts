import type { ToolOutput } from '../../../model/call.ts';
import { failedOutput, structuredOutput } from '../builtin-tool.ts';
import type { WorkOutcome } from './work.ts';

/** What came of the work, as a tool's answer; `advice` says what to change when it failed. */
export function computeOutput(outcome: WorkOutcome, advice: string): ToolOutput {
  if ('failure' in outcome) return failedOutput(`${outcome.failure} ${advice}`);
  return structuredOutput(JSON.parse(outcome.structured), outcome.text);
}

import type { ToolOutput } from '../../model/call.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Tool, ToolDefinition } from '../../model/tool.ts';
import type { CallContext } from '../source.ts';
import type { ComputePool } from '../../threads/compute/compute-pool.ts';
import type { ToolCatalogue } from '../source-ports.ts';

/** A clock that tests can replace. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Shared by all built-in tools. */
export interface BuiltinParts {
  readonly catalogue: ToolCatalogue;
  readonly compute: ComputePool;
  readonly clock: Clock;
  /** Aborts when the source is closed, so that no call outlives the source. */
  readonly closing: AbortSignal;
}

/** One built-in tool. A cheap tool returns its output directly, without a promise. */
export interface BuiltinTool {
  readonly definition: ToolDefinition;
  readonly tags: readonly string[];
  /** `args` have been validated against the input schema; `tool` is this tool's record in the inventory. */
  run(args: JsonObject, context: CallContext, parts: BuiltinParts, tool: Tool): ToolOutput | Promise<ToolOutput>;
}

/** A structured result, together with its text for the model. */
export function structuredOutput(structured: Json, text: string): ToolOutput {
  return { content: [{ type: 'text', text }], structured_content: structured };
}

/** A failure of the tool itself. The message tells the model what to do differently. */
export function failedOutput(message: string, failure?: ToolOutput['failure']): ToolOutput {
  return { content: [{ type: 'text', text: message }], is_error: true, ...(failure && { failure }) };
}

/** Annotations of a tool that changes nothing and reaches nothing outside this server. */
export const harmless = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

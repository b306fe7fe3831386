import type { ToolOutput } from '../../model/call.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Tool, ToolDefinition } from '../../model/tool.ts';
import type { CallContext } from '../source.ts';
import type { ComputePool } from './compute/compute-pool.ts';
import type { ToolCatalogue } from './tool-catalogue.ts';

/** Time, as an argument, so that a test can have its own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** What the built-in tools share. */
export interface BuiltinParts {
  readonly catalogue: ToolCatalogue;
  readonly compute: ComputePool;
  readonly clock: Clock;
  /** Aborts when the source is closed, so that no call outlives it. */
  readonly closing: AbortSignal;
}

/** One built-in tool: what the model reads, and what happens. A cheap tool answers at once, without a promise. */
export interface BuiltinTool {
  readonly definition: ToolDefinition;
  readonly tags: readonly string[];
  /** `args` have been validated against the input schema; `tool` is how the inventory knows this tool. */
  run(args: JsonObject, context: CallContext, parts: BuiltinParts, tool: Tool): ToolOutput | Promise<ToolOutput>;
}

/** A structured answer, with the form a model reads beside it. */
export function structuredOutput(structured: Json, text: string): ToolOutput {
  return { content: [{ type: 'text', text }], structured_content: structured };
}

/** The tool's own failure, in words that say what to do differently. */
export function failedOutput(message: string, failure?: ToolOutput['failure']): ToolOutput {
  return { content: [{ type: 'text', text: message }], is_error: true, ...(failure && { failure }) };
}

/** Annotations of a tool that changes nothing and reaches nothing outside this server. */
export const harmless = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

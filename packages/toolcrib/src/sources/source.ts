import type { ToolOutput } from '../model/call.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { DiscoveredTool, Tool } from '../model/tool.ts';

/** What a source is told about the call it serves. */
export interface CallContext {
  readonly callId: string;
  readonly principal: Principal;
  /** Aborts when the caller goes away, cancels, or the deadline passes. */
  readonly signal: AbortSignal;
  /** How far the call is; reaches the caller's stream in order. */
  progress(update: { progress: number; total?: number; message?: string }): void;
  log(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void;
}

/** How to talk to one source. Every source type implements this and nothing else. */
export interface Source {
  discover(signal: AbortSignal): Promise<DiscoveredTool[]>;
  /** Throws `CribError` when the call could not be made; a tool's own failure is a `ToolOutput` with `is_error`. */
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> | ToolOutput;
  close(): Promise<void>;
}

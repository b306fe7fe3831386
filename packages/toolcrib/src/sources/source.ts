import type { Steps } from '../durable/steps.ts';
import type { ToolOutput } from '../model/call.ts';
import type { EndSignal } from '../model/end-signal.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { TraceContext } from '../model/trace-context.ts';
import type { Span } from '../model/tracing.ts';
import type { Tool } from '../model/tool.ts';

/** What a source is told about the call it serves. */
export interface CallContext {
  readonly callId: string;
  readonly principal: Principal;
  /** Aborts when the caller goes away, cancels, or the deadline passes. */
  readonly signal: AbortSignal;
  /** The same, for a source whose calls are so quick that an `AbortSignal` for each would cost more than they do. */
  readonly ending: EndSignal;
  /** How much of its time is left; undefined where that is not known. */
  readonly leftMs?: number | undefined;
  /** [OPS-1] The span of the call, under which a source puts its own; undefined where nobody wants traces. */
  readonly span?: Span | undefined;
  /** What is passed on upstream: of that span, or what the caller sent. */
  readonly trace?: TraceContext | undefined;
  /** [POLL-2] [WF-2] Where a call of this tool goes on after a crash: in these modes everything is done in steps. */
  readonly steps?: Steps | undefined;
  /** Whether a redirect is an answer to this call, and not to be followed. */
  readonly keepsRedirects?: boolean | undefined;
  /** How far the call is; reaches the caller's stream in order. */
  progress(update: { progress: number; total?: number; message?: string }): void;
  log(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void;
  /** [MCP-13] Puts a question of the tool's to the caller. Declined at once where nobody is there to answer. */
  elicit(request: JsonObject): Promise<JsonObject>;
}

/** How to call the tools of one source, whatever its type. */
export interface Source {
  /** Throws `CribError` when the call could not be made; a tool's own failure is a `ToolOutput` with `is_error`. */
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> | ToolOutput;
  close(): Promise<void>;
}

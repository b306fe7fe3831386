import type { Steps } from '../durable/steps.ts';
import type { CallOutcome } from '../model/call-outcome.ts';
import type { ToolOutput } from '../model/call.ts';
import type { CallSignal } from '../model/end-signal.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { TraceContext } from '../model/trace-context.ts';
import type { Span } from '../model/tracing.ts';
import type { Tool } from '../model/tool.ts';

/** The context of a call for the source that serves it. */
export interface CallContext {
  readonly callId: string;
  readonly principal: Principal;
  /** Fires when the caller goes away or cancels, or when the deadline passes. */
  readonly signal: CallSignal;
  /** How much time the call has left; undefined if unknown. */
  readonly leftMs?: number | undefined;
  /** [OPS-1] The span of the call, the parent of the source's own spans; undefined if there are no traces. */
  readonly span?: Span | undefined;
  /** The trace context to send upstream: that of the span, or the caller's. */
  readonly trace?: TraceContext | undefined;
  /** [POLL-2] [WF-2] The steps of a call that continues after a crash; undefined for other calls. */
  readonly steps?: Steps | undefined;
  /** Whether a redirect is returned as the result instead of being followed. */
  readonly keepsRedirects?: boolean | undefined;
  /** Reports progress; updates reach the caller's stream in order. */
  progress(update: { progress: number; total?: number; message?: string }): void;
  log(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void;
  /** [MCP-13] Asks the caller a question for the tool. Declined at once if there is no one to answer. `key` is the server's name for it. */
  elicit(request: JsonObject, key?: string): Promise<JsonObject>;
  /** [DOOR-5] What the caller's client offers to servers; undefined where Toolcrib itself answers. */
  readonly clientCapabilities?: JsonObject | undefined;
  /** [DOOR-5] Puts another request of the server to the caller's client, such as for sampling. Rejects if the client does not offer that. */
  askClient?(method: string, params: JsonObject, key?: string): Promise<JsonObject>;
  /** [DOOR-5] Its client has answered questions before they were asked, so it knows their names: no other call may have taken them. */
  readonly isForewarned?: boolean | undefined;
  /** [DOOR-5] For what is no call but a watch of a resource, which lasts until the signal ends it or its session is over. */
  readonly watcher?: { begun(): void; updated(uri: string): void } | undefined;
}

/** How to call the tools of one source, whatever its type. */
export interface Source {
  /** Throws `CribError` when the call could not be made; a tool's own failure is a `ToolOutput` with `is_error`. */
  call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> | ToolOutput;
  /**
   * The same without a promise, for the plain call of an open session that nearly all calls are: the outcome is told later. False where the
   * call has to be made with `call`; nothing has happened then.
   */
  startCall?(tool: Tool, args: JsonObject, context: CallContext, outcome: CallOutcome): boolean;
  close(): Promise<void>;
}

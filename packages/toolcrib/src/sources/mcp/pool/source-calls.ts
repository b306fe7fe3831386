import type { CallOutcome } from '../../../model/call-outcome.ts';
import type { ToolOutput } from '../../../model/call.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { EndSignal } from '../../../model/end-signal.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { Principal } from '../../../model/principal.ts';
import type { Tool } from '../../../model/tool.ts';
import type { TraceContext } from '../../../model/trace-context.ts';
import { traced } from '../../../model/traced.ts';
import type { Span, SpanAttributes } from '../../../model/tracing.ts';
import type { OngoingWork } from '../../../resilience/ongoing-work.ts';
import type { CallSource, StartCall } from '../../open-source.ts';
import type { CallContext } from '../../source.ts';
import type { SessionKey } from '../../upstream/session-key.ts';
import type { McpCallOptions, McpSession, ResourceWatcher } from '../session/mcp-session.ts';
import type { LiveSession } from './live-session.ts';
import type { OwnSessions } from './own-sessions.ts';
import type { PerUserCalls } from './per-user-calls.ts';
import type { TakenSession } from './user-sessions.ts';

/** In the plan of what is called like a tool and is none. No server can set it: the plan of its tools is ours. */
export const methodField = 'mcp_method';

type AskedSessionKey = SessionKey | Promise<SessionKey> | undefined;

interface SourceCallsInput {
  own: OwnSessions;
  /** Set if every user has their own sessions. */
  ofUsers: PerUserCalls | undefined;
  ongoing: OngoingWork;
  /** A session of the source's own; rejects where it is not running. */
  take(signal: AbortSignal): Promise<TakenSession>;
  /** [OPS-1] The server's attributes in traces. */
  server: SpanAttributes;
}

/** Calls of one source's tools. */
export function createSourceCalls(input: SourceCallsInput): { call: CallSource; start: StartCall } {
  const { own, ofUsers, ongoing, server } = input;

  /** Takes a session, with a span that shows how long that took and whether the session was open already. */
  async function take({ principal, span: call }: CallContext, sessionKey: AskedSessionKey, signal: AbortSignal): Promise<TakenSession> {
    const span = call?.child('take session');
    return traced(span, takeNow(principal, sessionKey, signal, span), ({ reused }) => {
      span?.set({ 'toolcrib.session.reused': reused });
      return undefined;
    });
  }

  function takeNow(principal: Principal, sessionKey: AskedSessionKey, signal: AbortSignal, span: Span | undefined): Promise<TakenSession> {
    if (ofUsers === undefined || sessionKey === undefined) return input.take(signal);
    const asked = sessionKey instanceof Promise ? traced(span?.child('get credential'), sessionKey) : sessionKey;
    return ofUsers.take(principal, asked, signal);
  }

  async function callOnTaken(tool: Tool, args: JsonObject, context: CallContext, taking: Promise<TakenSession>, signal: AbortSignal) {
    const used = await taking;
    try {
      const answer = await callOnSession(used.session, tool, args, context, signal, server);
      own.sharedSession?.provedItself();
      return answer;
    } catch (error) {
      throw used.over?.() ?? error;
    } finally {
      used.giveBack();
    }
  }

  /** On the session that the caller has already, or one that is opened for the call. */
  async function callForCaller(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> {
    const sessionKey = ofUsers?.sessionKeyOf(context.principal);
    const taken = sessionKey && ofUsers?.ready(sessionKey);
    if (taken === undefined)
      return ongoing.run(context.signal, (signal) => callOnTaken(tool, args, context, take(context, sessionKey, signal), signal));
    try {
      return await callOnSession(taken.session, tool, args, context, context.signal, server);
    } catch (error) {
      throw taken.over?.() ?? error;
    } finally {
      taken.giveBack();
    }
  }

  /** On a session of its own, where that is possible and makes a difference. */
  function callAlone(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> {
    return ongoing.run(context.signal, (signal) =>
      callOnTaken(tool, args, context, own.takeAlone(signal) ?? take(context, undefined, signal), signal),
    );
  }

  return {
    call(tool, args, context) {
      if (context.isForewarned === true && ofUsers === undefined) return callAlone(tool, args, context);
      const shared = ofUsers === undefined ? own.sharedSession : undefined;
      // The fast path needs no bookkeeping: calls under way on a session end with it.
      if (shared?.ready === undefined) return callForCaller(tool, args, context);
      const output = callOnSession(shared.ready, tool, args, context, context.signal, server);
      return shared.restarts > 0 ? provedItself(shared, output) : output;
    },

    start(tool, args, context, outcome) {
      // A span has to be ended with the call.
      if (context.span !== undefined || context.isForewarned === true) return false;
      if (ofUsers === undefined) {
        const { ready, restarts = 0 } = own.sharedSession ?? {};
        return ready !== undefined && restarts === 0 && startOnSession(ready, tool, args, context, outcome);
      }
      const taken = ofUsers.ready(ofUsers.sessionKeyOf(context.principal));
      if (taken === undefined) return false;
      const isStarted = startOnSession(taken.session, tool, args, context, {
        answered(output) {
          taken.giveBack();
          outcome.answered(output);
        },
        failed(error) {
          taken.giveBack();
          outcome.failed(taken.over?.() ?? error);
        },
      });
      if (!isStarted) taken.giveBack();
      return isStarted;
    },
  };
}

/** A session that was opened again has proved itself with the first answer. */
async function provedItself(session: LiveSession, output: Promise<ToolOutput>): Promise<ToolOutput> {
  const answer = await output;
  session.provedItself();
  return answer;
}

/** What a session asks about one call, answered by its context. */
class CallOptions implements McpCallOptions {
  // The deadline of the call, which progress extends, ends it through the signal.
  readonly timeoutMs = Infinity;
  readonly maxTotalMs = Infinity;
  readonly #context: CallContext;
  readonly signal: EndSignal;
  readonly trace: TraceContext | undefined;

  constructor(context: CallContext, signal: EndSignal, trace: TraceContext | undefined) {
    this.#context = context;
    this.signal = signal;
    this.trace = trace;
  }

  get clientCapabilities(): JsonObject | undefined {
    return this.#context.clientCapabilities;
  }

  get watcher(): ResourceWatcher | undefined {
    return this.#context.watcher;
  }

  onProgress(update: { progress: number; total?: number; message?: string }): void {
    this.#context.progress(update);
  }

  onLog(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void {
    this.#context.log(level, data);
  }

  onElicit(request: JsonObject, key?: string): Promise<JsonObject> {
    return this.#context.elicit(request, key);
  }

  onAsk(method: string, params: JsonObject, key?: string): Promise<JsonObject> {
    const asked = this.#context.askClient?.(method, params, key);
    return asked ?? Promise.reject(new CribError('SERVICE_UNAVAILABLE', 'There is no client to ask', { retryable: false }));
  }
}

function startOnSession(session: McpSession, tool: Tool, args: JsonObject, context: CallContext, outcome: CallOutcome): boolean {
  if (methodOf(tool) !== undefined) return false;
  return session.startTool(tool.definition.name, args, new CallOptions(context, context.signal, context.trace), outcome);
}

/** One call of one caller, ended by the signal. `server` has the server's attributes in traces. */
function callOnSession(
  session: McpSession,
  tool: Tool,
  args: JsonObject,
  context: CallContext,
  signal: EndSignal,
  server: SpanAttributes,
): Promise<ToolOutput> {
  const { name } = tool.definition;
  const method = methodOf(tool);
  // The name that the semantic conventions for MCP give a client's span.
  const span = context.span?.child(`${method ?? 'tools/call'} ${name}`, {
    kind: 'client',
    attributes: { ...server, 'gen_ai.tool.name': name },
  });
  const options = new CallOptions(context, signal, span?.context ?? context.trace);
  const output = method === undefined ? session.callTool(name, args, options) : session.ask(method, args, options);
  return span === undefined ? output : traced(span, output, ownFailure);
}

/** [DOOR-5] The request that is made in place of a tool call. */
function methodOf({ plan }: Tool): string | undefined {
  const method = plan?.[methodField];
  return typeof method === 'string' ? method : undefined;
}

/** A failure that the tool itself reports, in the words of the semantic conventions. */
function ownFailure({ is_error }: ToolOutput): string | undefined {
  return is_error === true ? 'tool_error' : undefined;
}

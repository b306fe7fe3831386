import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import { originOfFailure } from '../model/origin.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import { traced } from '../model/traced.ts';
import type { Span, SpanAttributes } from '../model/tracing.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { Standing } from '../sources/upstream/standing.ts';
import type { CallContext } from '../sources/source.ts';
import { callOnSession } from './call-on-session.ts';
import type { HealthRecord } from './health.ts';
import type { OngoingWork } from './ongoing-work.ts';
import type { OwnSessions } from './own-sessions.ts';
import type { PerUserCalls } from './per-user-calls.ts';
import type { TakenSession } from './user-sessions.ts';

export type CallSource = (tool: Tool, args: JsonObject, context: CallContext) => Promise<ToolOutput>;

type AskedStanding = Standing | Promise<Standing> | undefined;

interface SourceCallsInput {
  own: OwnSessions;
  /** Where every user speaks for themselves. */
  ofUsers: PerUserCalls | undefined;
  ongoing: OngoingWork;
  health: HealthRecord;
  /** A session of the source's own; rejects where it is not running. */
  take(signal: AbortSignal): Promise<TakenSession>;
  /** [OPS-1] What traces say of the server. */
  server: SpanAttributes;
  /** Fires when the source is stopped; another one after each start. */
  stopped(): AbortSignal;
}

/** Calls of one source's tools, and what they say about its health. */
export function createSourceCalls(input: SourceCallsInput): CallSource {
  const { own, ofUsers, ongoing, health, server, stopped: stoppedNow } = input;

  /** How long that takes says whether one was there already. */
  async function take({ principal, span: call }: CallContext, standing: AskedStanding, signal: AbortSignal): Promise<TakenSession> {
    const span = call?.child('take session');
    return traced(span, takeNow(principal, standing, signal, span), ({ reused }) => {
      span?.set({ 'toolcrib.session.reused': reused });
      return undefined;
    });
  }

  function takeNow(principal: Principal, standing: AskedStanding, signal: AbortSignal, span: Span | undefined): Promise<TakenSession> {
    if (ofUsers === undefined || standing === undefined) return input.take(signal);
    const asked = standing instanceof Promise ? traced(span?.child('get credential'), standing) : standing;
    return ofUsers.take(principal, asked, signal);
  }

  async function callOnTaken(tool: Tool, args: JsonObject, context: CallContext, taking: Promise<TakenSession>, signal: AbortSignal) {
    const used = await taking;
    try {
      return await callOnSession(used.session, tool, args, context, signal, server);
    } catch (error) {
      throw used.over?.() ?? error;
    } finally {
      used.giveBack();
    }
  }

  /** [ID-5] What one user may not do says nothing about the source, and must not hurt the others. */
  function callFailed(error: CribError): void {
    if (ofUsers !== undefined && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN')) error.origin = 'caller';
    if (originOfFailure(error) === 'source') health.failed(error);
  }

  return async (tool, args, context) => {
    const stopped = stoppedNow();
    let taken: TakenSession | undefined;
    let ready: McpSession | undefined;
    try {
      const standing = ofUsers?.standingOf(context.principal);
      // The usual way pays for nothing more: what is under way on a session ends with it.
      if (!stopped.aborted) {
        taken = standing && ofUsers?.ready(standing);
        ready = ofUsers === undefined ? own.ready : taken?.session;
      }
      const output =
        ready === undefined
          ? await ongoing.run(context.signal, (signal) => callOnTaken(tool, args, context, take(context, standing, signal), signal))
          : await callOnSession(ready, tool, args, context, context.ending, server);
      health.succeeded();
      own.provedItself();
      return output;
    } catch (error) {
      // A caller who went away says nothing about the server, and neither does our own stop.
      if (context.ending.aborted) throw error;
      if (stopped.aborted) throw ready === undefined ? error : stopped.reason;
      const failure = taken?.over?.() ?? error;
      if (failure instanceof CribError) callFailed(failure);
      throw failure;
    } finally {
      taken?.giveBack();
    }
  };
}

import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { CallContext } from '../sources/source.ts';
import { callOnSession } from './call-on-session.ts';
import type { HealthRecord } from './health.ts';
import type { OngoingWork } from './ongoing-work.ts';
import type { OwnSessions } from './own-sessions.ts';
import type { PerUserCalls } from './per-user-calls.ts';
import type { TakenSession } from './user-sessions.ts';

export type CallSource = (tool: Tool, args: JsonObject, context: CallContext) => Promise<ToolOutput>;

interface SourceCallsInput {
  own: OwnSessions;
  /** Where every user speaks for themselves. */
  ofUsers: PerUserCalls | undefined;
  ongoing: OngoingWork;
  health: HealthRecord;
  /** A session of the source's own; rejects where it is not running. */
  take(signal: AbortSignal): Promise<TakenSession>;
  /** Fires when the source is stopped; another one after each start. */
  stopped(): AbortSignal;
}

/** Calls of one source's tools, and what they say about its health. */
export function createSourceCalls({ own, ofUsers, ongoing, health, take, stopped: stoppedNow }: SourceCallsInput): CallSource {
  async function callOnTaken(tool: Tool, args: JsonObject, context: CallContext, signal: AbortSignal): Promise<ToolOutput> {
    const { session, giveBack } = await (ofUsers === undefined ? take(signal) : ofUsers.take(context.principal, signal));
    try {
      return await callOnSession(session, tool, args, context, signal);
    } finally {
      giveBack();
    }
  }

  /** [ID-5] What one user may not do says nothing about the source, and must not hurt the others. */
  function callFailed(error: CribError): void {
    const isOwnFault = ofUsers !== undefined && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN');
    if (!isOwnFault) health.failed(error);
  }

  return async (tool, args, context) => {
    const stopped = stoppedNow();
    // The usual way pays for nothing more: what is under way on the one session ends with it.
    const ready = ofUsers !== undefined || stopped.aborted ? undefined : own.ready;
    try {
      const output =
        ready === undefined
          ? await ongoing.run(context.signal, (signal) => callOnTaken(tool, args, context, signal))
          : await callOnSession(ready, tool, args, context, context.ending);
      health.succeeded();
      own.provedItself();
      return output;
    } catch (error) {
      // A caller who went away says nothing about the server, and neither does our own stop.
      if (context.ending.aborted) throw error;
      if (stopped.aborted) throw ready === undefined ? error : stopped.reason;
      if (error instanceof CribError) callFailed(error);
      throw error;
    }
  };
}

import type { Answer, CallStatus } from '../model/call.ts';
import { CribError, type ErrorCode } from '../model/crib-error.ts';
import type { Origin } from '../model/origin.ts';
import type { Principal } from '../model/principal.ts';
import type { Store } from '../store/store.ts';
import type { Executor } from './executor.ts';
import type { KeptCalls } from './kept-calls.ts';

/** What a caller can know of a call of theirs; its answer where one is kept. */
interface CallState {
  call_id: string;
  tool_id: string | null;
  tool: string;
  status: CallStatus;
  error_code: ErrorCode | null;
  error_origin: Origin | null;
  answer: Answer | null;
}

export interface OwnCalls {
  /** Throws `NOT_FOUND` for calls of others as for those that were never made. */
  find(principal: Principal, callId: string): Promise<CallState>;
  /** A call that has ended stays as it is. */
  cancel(principal: Principal, callId: string): Promise<CallState>;
}

interface OwnCallsInput {
  executor: Executor;
  keptCalls: KeptCalls;
  store: Store;
}

/** [BFF-5] What becomes of calls, for those who made them. */
export function createOwnCalls({ executor, keptCalls, store }: OwnCallsInput): OwnCalls {
  async function find(principal: Principal, callId: string): Promise<CallState> {
    const running = executor.running(callId);
    if (running?.principal.key === principal.key) {
      const { tool } = running;
      const status = running.queued ? 'queued' : 'running';
      return { call_id: callId, tool_id: tool.tool_id, tool: tool.name, status, error_code: null, error_origin: null, answer: null };
    }
    const found = await keptCalls.find(principal, callId);
    if (found !== undefined) {
      const { kept, answer } = found;
      const status = answer?.status ?? 'running';
      const { code: error_code = null, origin: error_origin = null } = answer?.error ?? {};
      return { call_id: callId, tool_id: kept.tool_id, tool: kept.tool, status, error_code, error_origin, answer };
    }
    const record = await store.calls.get(callId);
    if (record === undefined || record.issuer !== principal.issuer || record.subject !== principal.subject) {
      throw new CribError('NOT_FOUND', 'You have made no such call');
    }
    const { tool_id, tool, status, error_code, error_origin } = record;
    return { call_id: callId, tool_id, tool, status, error_code, error_origin, answer: null };
  }

  return {
    find,
    async cancel(principal, callId) {
      const state = await find(principal, callId);
      if (state.status !== 'running' && state.status !== 'queued') return state;
      const here = executor.running(callId);
      if (here === undefined) {
        if (await keptCalls.cancelUnbegun(principal, callId)) return find(principal, callId);
        // It runs on another server, which is told; until it has heard, the call is what it was.
        await store.signal('cancel-call', callId);
        return state;
      }
      here.end('cancelled');
      return { ...state, status: 'cancelled' };
    },
  };
}

import type { Answer, CallStatus } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { AnswerRow } from '../store/answers.ts';
import type { Store } from '../store/store.ts';
import type { AdmittedCall } from './admission.ts';
import type { AnswerKeeper } from './answer-keeper.ts';
import { claimRow, requestHash } from './answer-row.ts';
import { unknownAnswer } from './answer.ts';
import type { Executor } from './executor.ts';
import { createKeptAnswers } from './kept-answers.ts';
import { cancelledAnswer, lostRecord, lostWithServer, maySendAgain, notBegunAnswer } from './lost-answer.ts';
import { sealAnswer } from './sealed-answer.ts';

interface Begun {
  callId: string;
  status: CallStatus;
  answer: Promise<Answer>;
  /** True when an earlier call with the same Idempotency-Key answers this one. */
  repeated: boolean;
}

export interface KeptCalls {
  /** Runs an admitted call and keeps its answer; with a key already used, gives the first call's answer instead. */
  begin(admitted: AdmittedCall, options: { idempotencyKey?: string }): Promise<Begun>;
  /** The owner's kept answer: undefined where there is none, `answer: null` while it runs. */
  find(principal: Principal, callId: string): Promise<{ kept: AnswerRow; answer: Answer | null } | undefined>;
  /** Waits for the answer of the owner's call, wherever it runs; undefined where no answer of it is kept. */
  join(principal: Principal, callId: string): Promise<Answer | undefined>;
  /** Cancels the owner's call if it was not begun anywhere; false where it may be running. */
  cancelUnbegun(principal: Principal, callId: string): Promise<boolean>;
  /**
   * Ends the calls of a server that was killed, with an answer and a record that say so. A server that is alone with its data ends all of
   * them; where there are several servers, only those past their deadline. Calls in `except` go on: all of them before their deadline,
   * afterwards those that were not begun.
   */
  abandon(which?: { deadlineBefore?: number; except?: ReadonlySet<string> }): Promise<void>;
  /** The same for one call, and for a reason of its own. */
  giveUp(callId: string, reason: string): Promise<void>;
  /** Resolves when no kept call is running here any more. */
  drain(): Promise<void>;
}

interface KeptCallsInput {
  store: Store;
  executor: Executor;
  answerKeeper: AnswerKeeper;
  keyRing: KeyRing;
}

/** [EXEC-9] Calls whose answer outlives their request: made with `async`, or with an Idempotency-Key. */
export function createKeptCalls({ store, executor, answerKeeper, keyRing }: KeptCallsInput): KeptCalls {
  const runningHere = new Map<string, Promise<Answer>>();
  const answers = createKeptAnswers({ store, keyRing });

  async function run(admitted: AdmittedCall): Promise<Answer> {
    const { call } = admitted;
    const answer = await executor.run(admitted);
    // A call that is still running was left to another server, which will keep its answer.
    if (answer.status !== 'running') await answerKeeper.keep(answer, call.principal.key, { freesKey: maySendAgain(call, answer) });
    return answer;
  }

  /** Undefined where the principal has no such call. */
  async function keptFor(principal: Principal, callId: string): Promise<AnswerRow | undefined> {
    const kept = await store.answers.get(callId);
    return kept?.owner === principal.key ? kept : undefined;
  }

  function waitFor(kept: AnswerRow): Promise<Answer> {
    return runningHere.get(kept.call_id) ?? answers.waitFor(kept);
  }

  async function endLost(kept: AnswerRow, reason: string): Promise<void> {
    const answer = await answers.endingOf(kept, unknownAnswer(kept, reason));
    // The record first: it is left alone where the call had one already, and an answer without a record must not be.
    if (answer.status === 'unknown') await store.calls.append([lostRecord(kept, 'unknown')]);
    await store.answers.finish(kept.call_id, sealAnswer(keyRing, answer, kept.owner), kept.expires_at);
  }

  /** The answer first: it keeps the call from being begun after all. */
  async function endUnbegun(kept: AnswerRow, answer: Answer): Promise<boolean> {
    const freesKey = maySendAgain({ begun: false }, answer);
    const body = sealAnswer(keyRing, answer, kept.owner);
    if (!(await store.answers.finishUnbegun(kept.call_id, body, kept.expires_at, { freesKey }))) return false;
    await store.calls.append([lostRecord(kept, answer.status)]);
    return true;
  }

  return {
    async begin(admitted, { idempotencyKey }) {
      const { call } = admitted;
      const claim = await store.answers.claim(claimRow(call, admitted.args, idempotencyKey ?? null)).catch((error: unknown) => {
        executor.dismiss(admitted);
        throw error;
      });
      if (claim.claimed) {
        const answer = run(admitted);
        runningHere.set(call.callId, answer);
        // A caller who waits is told of a refusal; others find it with the call.
        answer.catch(() => undefined).finally(() => runningHere.delete(call.callId));
        return { callId: call.callId, status: call.queued ? 'queued' : 'running', answer, repeated: false };
      }
      executor.dismiss(admitted);
      const { existing } = claim;
      if (existing.request_hash !== requestHash(call.tool, admitted.args)) {
        throw new CribError('CONFLICT', 'This Idempotency-Key was used for another call: use a new key for a new call', {
          field: 'Idempotency-Key',
        });
      }
      const status = (await answers.read(existing))?.status ?? 'running';
      return { callId: existing.call_id, status, answer: waitFor(existing), repeated: true };
    },

    async find(principal, callId) {
      const kept = await keptFor(principal, callId);
      return kept && { kept, answer: await answers.read(kept) };
    },

    async join(principal, callId) {
      const kept = await keptFor(principal, callId);
      return kept && waitFor(kept);
    },

    async cancelUnbegun(principal, callId) {
      const kept = await keptFor(principal, callId);
      return kept?.begun === 0 && endUnbegun(kept, cancelledAnswer(kept));
    },

    async abandon({ deadlineBefore, except } = {}) {
      for (const kept of await store.answers.listRunning(deadlineBefore === undefined ? {} : { deadlineBefore })) {
        const isLate = deadlineBefore !== undefined && kept.begun === 1;
        if (!isLate && except?.has(kept.call_id) === true) continue;
        if (kept.begun === 0) await endUnbegun(kept, notBegunAnswer(kept));
        else await endLost(kept, lostWithServer);
      }
    },

    async giveUp(callId, reason) {
      const kept = await store.answers.get(callId);
      if (kept !== undefined) await endLost(kept, reason);
    },

    async drain() {
      await Promise.allSettled(runningHere.values());
      await answerKeeper.flush();
    },
  };
}

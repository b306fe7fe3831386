import type { Answer, CallStatus } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { AnswerRow } from '../store/answers.ts';
import type { Store } from '../store/store.ts';
import type { AdmittedCall } from './admitted-call.ts';
import type { AnswerKeeper } from './answer-keeper.ts';
import { claimRow, requestHash } from './answer-row.ts';
import { unknownAnswer } from './answer.ts';
import type { Executor } from './executor.ts';
import {
  answerWithoutContent,
  cancelledAnswer,
  hasEnded,
  lostRecord,
  lostWithServer,
  maySendAgain,
  notBegunAnswer,
} from './lost-answer.ts';
import { openAnswer, sealAnswer } from './sealed-answer.ts';

/** How often another server's answer is looked for. */
const lookAgainMs = 250;

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
   * Tells what is left of a server that was killed: its running calls now have an answer and a record that say so. A server that is
   * alone with its data may take all of them; where there are several, only those past their deadline. Those in `except` go on: all of
   * them before their deadline, afterwards those that were not begun.
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
  const runningElsewhere = new Map<string, Promise<Answer>>();

  async function run(admitted: AdmittedCall): Promise<Answer> {
    const { call } = admitted;
    const answer = await executor.run(admitted);
    // One that is still running was left to others, who will keep its answer.
    if (answer.status !== 'running') await answerKeeper.keep(answer, call.principal.key, { freesKey: maySendAgain(call, answer) });
    return answer;
  }

  /** Null while it runs. Where no answer is kept, or none that is certain, the record may know more. */
  async function answerOf(kept: AnswerRow): Promise<Answer | null> {
    if (kept.body === null && (kept.begun === 0 || Date.now() <= kept.deadline_at)) return null;
    const answer = openAnswer(keyRing, kept);
    if (answer !== undefined && answer.status !== 'unknown') return answer;
    return endingOf(kept, answer ?? unknownAnswer(kept, lostWithServer));
  }

  /** As the record has it; `unknown` where it has nothing. */
  async function endingOf(kept: AnswerRow, unknown: Answer): Promise<Answer> {
    const record = await store.calls.get(kept.call_id);
    return record !== undefined && hasEnded(record) ? answerWithoutContent(kept, record) : unknown;
  }

  async function lookFor(kept: AnswerRow): Promise<Answer> {
    for (let latest: AnswerRow | undefined = kept; latest !== undefined; latest = await store.answers.get(kept.call_id)) {
      const answer = await answerOf(latest);
      if (answer !== null) return answer;
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
    throw new CribError('CONFLICT', 'The first call with this Idempotency-Key has been forgotten: use a new key');
  }

  /** However often a call is repeated while it runs elsewhere, its answer is looked for once. */
  function waitFor(kept: AnswerRow): Promise<Answer> {
    const { call_id: callId } = kept;
    const known = runningHere.get(callId) ?? runningElsewhere.get(callId);
    if (known !== undefined) return known;
    const found = lookFor(kept).finally(() => runningElsewhere.delete(callId));
    runningElsewhere.set(callId, found);
    return found;
  }

  async function endLost(kept: AnswerRow, reason: string): Promise<void> {
    const answer = await endingOf(kept, unknownAnswer(kept, reason));
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
        // Whoever waits is told of a refusal; those who do not find it with the call.
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
      const status = (await answerOf(existing))?.status ?? 'running';
      return { callId: existing.call_id, status, answer: waitFor(existing), repeated: true };
    },

    async find(principal, callId) {
      const kept = await store.answers.get(callId);
      if (kept === undefined || kept.owner !== principal.key) return undefined;
      return { kept, answer: await answerOf(kept) };
    },

    async join(principal, callId) {
      const kept = await store.answers.get(callId);
      return kept === undefined || kept.owner !== principal.key ? undefined : waitFor(kept);
    },

    async cancelUnbegun(principal, callId) {
      const kept = await store.answers.get(callId);
      return kept !== undefined && kept.owner === principal.key && kept.begun === 0 && endUnbegun(kept, cancelledAnswer(kept));
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

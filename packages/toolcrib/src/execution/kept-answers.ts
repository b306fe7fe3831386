import type { Answer } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { AnswerRow } from '../store/answers.ts';
import type { Store } from '../store/store.ts';
import { unknownAnswer } from './answer.ts';
import { answerWithoutContent, hasEnded, lostWithServer } from './lost-answer.ts';
import { openAnswer } from './sealed-answer.ts';

/** How often another server's answer is looked for. */
const lookAgainMs = 250;

/** [EXEC-9] Reads the answers that are kept, whichever server made the calls. */
export interface KeptAnswers {
  /** Null while the call runs. */
  read(kept: AnswerRow): Promise<Answer | null>;
  /** How the call ended according to the record; `unknown` where the record does not say. */
  endingOf(kept: AnswerRow, unknown: Answer): Promise<Answer>;
  /** Resolves once there is an answer. However many wait for a call, its answer is looked for once. */
  waitFor(kept: AnswerRow): Promise<Answer>;
}

export function createKeptAnswers({ store, keyRing }: { store: Pick<Store, 'answers' | 'calls'>; keyRing: KeyRing }): KeptAnswers {
  const awaited = new Map<string, Promise<Answer>>();

  async function read(kept: AnswerRow): Promise<Answer | null> {
    if (kept.body === null && (kept.begun === 0 || Date.now() <= kept.deadline_at)) return null;
    const answer = openAnswer(keyRing, kept);
    if (answer !== undefined && answer.status !== 'unknown') return answer;
    // Where no answer is kept, or none that is certain, the record may know more.
    return endingOf(kept, answer ?? unknownAnswer(kept, lostWithServer));
  }

  async function endingOf(kept: AnswerRow, unknown: Answer): Promise<Answer> {
    const record = await store.calls.get(kept.call_id);
    return record !== undefined && hasEnded(record) ? answerWithoutContent(kept, record) : unknown;
  }

  async function lookFor(kept: AnswerRow): Promise<Answer> {
    for (let latest: AnswerRow | undefined = kept; latest !== undefined; latest = await store.answers.get(kept.call_id)) {
      const answer = await read(latest);
      if (answer !== null) return answer;
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
    throw new CribError('CONFLICT', 'The first call with this Idempotency-Key has been forgotten: use a new key');
  }

  return {
    read,
    endingOf,
    waitFor(kept) {
      const { call_id: callId } = kept;
      const known = awaited.get(callId);
      if (known !== undefined) return known;
      const found = lookFor(kept).finally(() => awaited.delete(callId));
      awaited.set(callId, found);
      return found;
    },
  };
}

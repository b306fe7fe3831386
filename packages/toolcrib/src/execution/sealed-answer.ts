import type { Answer } from '../model/call.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { open, seal, type SealedPlace } from '../secrets/seal.ts';
import type { AnswerRow } from '../store/answers.ts';

/** [SEC-3] A kept answer as it is stored, bound to its call and its owner: changing the database gives nobody another person's answer. */
export function sealAnswer(keyRing: KeyRing, answer: Answer, owner: string): string {
  return seal(keyRing, JSON.stringify(answer), placeOf({ call_id: answer.call_id, owner }));
}

/** Undefined where its content was not kept, or was sealed with a key that is gone. */
export function openAnswer(keyRing: KeyRing, kept: AnswerRow): Answer | undefined {
  if (kept.body === null || kept.body === '') return undefined;
  try {
    return JSON.parse(open(keyRing, kept.body, placeOf(kept))) as Answer;
  } catch {
    return undefined;
  }
}

function placeOf({ call_id, owner }: Pick<AnswerRow, 'call_id' | 'owner'>): SealedPlace {
  return { id: call_id, field: `answer of ${owner}` };
}

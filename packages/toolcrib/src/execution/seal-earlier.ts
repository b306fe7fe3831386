import type { Answer } from '../model/call.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import type { Store } from '../store/store.ts';
import { sealAnswer } from './sealed-answer.ts';
import { sealArtifact } from './sealed-artifact.ts';

const atOnce = 20;

/** [SEC-3] Seals answers and artifacts stored by a version that did not. Only the first start finds any, and looking costs next to nothing. */
export async function sealEarlier({ answers, artifacts }: Pick<Store, 'answers' | 'artifacts'>, keyRing: KeyRing): Promise<void> {
  for (let rows = await answers.listUnsealed(atOnce); rows.length > 0; rows = await answers.listUnsealed(atOnce))
    for (const { call_id, owner, body } of rows)
      await answers.putSealed(call_id, sealAnswer(keyRing, JSON.parse(body ?? '') as Answer, owner));
  for (let rows = await artifacts.listUnsealed(1); rows.length > 0; rows = await artifacts.listUnsealed(1))
    for (const row of rows) await artifacts.putSealed(row, sealArtifact(keyRing, row.data, row));
}

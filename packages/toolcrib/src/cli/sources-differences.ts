import { describeDifference } from './describe-difference.ts';
import { readDifferences } from './difference-client.ts';
import type { Administrator, ShownSource } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';

/** [INV-3] The tools of a source that wait for approval, and how they differ from what was approved. */
export async function showDifferences(administrator: Administrator, source: ShownSource, { json }: { json: boolean }): Promise<number> {
  const { id, namespace } = source;
  const answer = await readDifferences(administrator, id);
  if (json) {
    printJson(answer);
    return 0;
  }
  if (answer.differences.length === 0) {
    print(`No tool of ${namespace} waits for approval.`);
    return 0;
  }
  print(answer.differences.map(describeDifference).join('\n\n'));
  remark(`\`toolcrib sources approve ${namespace}\` approves them.`);
  return 0;
}

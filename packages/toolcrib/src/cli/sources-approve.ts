import { CribError } from '../model/crib-error.ts';
import { agreed, canAsk } from './agreed.ts';
import { describeDifference } from './describe-difference.ts';
import { countTools } from './describe-source.ts';
import { approveDifferences, readDifferences, type ShownDifference } from './difference-client.ts';
import type { Administrator, ShownSource } from './source-client.ts';
import { print, printJson, remark } from './terminal.ts';
import { UsageError } from '../model/usage-error.ts';

interface ApproveOptions {
  json: boolean;
  ask: boolean;
  /** Only these tools; if empty, all that wait. */
  tools: readonly string[];
}

/** [INV-3] Shows the waiting tools and approves exactly those, after a question or with --yes. */
export async function approveSource(administrator: Administrator, source: ShownSource, options: ApproveOptions): Promise<number> {
  const { json, ask, tools } = options;
  const { id, namespace } = source;
  if (ask && (json || !canAsk()))
    throw new UsageError(
      'This is not a terminal, so nobody can confirm: pass --yes to approve without asking; `toolcrib sources differences` shows the changes',
      {
        field: 'yes',
      },
    );
  const waiting = chosen((await readDifferences(administrator, id)).differences, tools, namespace);
  if (waiting.length === 0) {
    if (json) printJson({ approved: [] });
    else print(`No tool of ${namespace} waits for approval.`);
    return 0;
  }
  if (!json) print(waiting.map(describeDifference).join('\n\n'));
  if (ask && !(await agreed(`Approve ${countTools(waiting.length)} of ${namespace} as shown? [y/N] `))) {
    remark('Nothing was approved.');
    return 1;
  }
  await approveDifferences(administrator, id, waiting);
  if (json) printJson({ approved: waiting.map(({ name }) => name) });
  else print(`${countTools(waiting.length)} of ${namespace} approved.`);
  return 0;
}

function chosen(waiting: readonly ShownDifference[], tools: readonly string[], namespace: string): readonly ShownDifference[] {
  if (tools.length === 0) return waiting;
  return tools.map((written) => {
    const found = waiting.find(({ name, upstream_name, tool_id }) => [name, upstream_name, tool_id].includes(written));
    if (found !== undefined) return found;
    throw new CribError('NOT_FOUND', `No tool ${JSON.stringify(written)} of ${namespace} waits for approval`);
  });
}

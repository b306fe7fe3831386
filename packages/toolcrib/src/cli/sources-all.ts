import { CribError } from '../model/crib-error.ts';
import { interruptedCode, interruptSignal } from './interrupt-signal.ts';
import { createSourceClient, type Administrator, type ShownSource } from './source-client.ts';
import { sourceTable } from './sources-table.ts';
import { complain, print, printJson, remark } from './terminal.ts';

const actions = ['start', 'stop', 'restart'] as const;
type ActionForAll = (typeof actions)[number];

/** Other actions depend on the source: one may have been disabled for a reason. */
export function isForAll(action: string): action is ActionForAll {
  return actions.some((known) => known === action);
}

/**
 * Starts, stops or restarts every enabled source, all at once and each for itself. What fails keeps no other from it. The built-in tools
 * come with the server and stay.
 */
export async function changeAllSources(administrator: Administrator, action: ActionForAll, { json }: { json: boolean }): Promise<number> {
  const client = createSourceClient(administrator);
  const concerned = (source: ShownSource) => source.definition !== null && source.enabled;
  const wanted = (await client.list()).sources.filter(concerned);
  const signal = interruptSignal();
  let failed = 0;
  await Promise.all(
    wanted.map(async ({ id, namespace }) => {
      try {
        await client.act(id, action, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof CribError)) throw error;
        failed += 1;
        complain(`${namespace}: ${error.message}`);
      }
    }),
  );
  if (signal.aborted) {
    remark('No longer watching. The server continues: `toolcrib sources` shows how it went.');
    return interruptedCode;
  }
  const ids = new Set(wanted.map(({ id }) => id));
  const sources = (await client.list()).sources.filter(({ id }) => ids.has(id));
  if (json) printJson({ sources });
  else if (sources.length === 0) remark('No source is enabled except the built-in tools.');
  else print(sourceTable(sources));
  if (!json && action === 'stop' && sources.length > 0)
    remark('Their tools are no longer listed. `toolcrib sources start --all` starts them again. The built-in tools stay.');
  return failed === 0 ? 0 : 1;
}

import { align } from '../text/align.ts';
import { countTools, paintState } from './describe-source.ts';
import { openProgressLine } from './progress-line.ts';
import type { ShownImport, SourceClient } from './source-client.ts';
import { lineWidth } from './terminal.ts';

/** Each source when it has started or failed, or as it was when the waiting was interrupted. */
export async function waitForAll(outcomes: readonly ShownImport[], sources: SourceClient, signal: AbortSignal): Promise<ShownImport[]> {
  const registered = outcomes.flatMap(({ source }) => (source === null ? [] : [source]));
  if (registered.length === 0) return [...outcomes];
  const progress = openProgressLine(`Starting ${registered.length === 1 ? registered[0]?.namespace : `${registered.length} sources`}`);
  try {
    return await Promise.all(
      outcomes.map(async (outcome) => {
        if (outcome.source === null) return outcome;
        const source = await sources.settled(outcome.source.id, signal).catch((error: unknown) => {
          if (signal.aborted) return undefined;
          throw error;
        });
        if (source === undefined) return outcome;
        const { state, code = 'INTERNAL', message = '' } = source.status;
        if (state !== 'error') return { ...outcome, source };
        progress.say(`${source.namespace}: ${message}`);
        return { ...outcome, source, error: { code: code as NonNullable<ShownImport['error']>['code'], message } };
      }),
    );
  } finally {
    progress.end();
  }
}

export function outcomeTable(outcomes: readonly ShownImport[]): string {
  const states = outcomes.map(({ source }) => source?.status.state ?? 'refused');
  const rows = outcomes.map(({ entry, outcome, source, error }, index) => {
    const { tools } = source?.status ?? {};
    const was = outcome === 'updated' || outcome === 'unchanged' ? outcome : undefined;
    const found = error?.message ?? (tools === undefined ? undefined : countTools(tools));
    return [source?.namespace ?? entry, states[index] ?? '', [found, was].filter((part) => part !== undefined).join(', ')];
  });
  const painter = (text: string, column: number, row: number) => {
    const state = states[row] ?? '';
    return column === 1 ? paintState(state === 'refused' ? 'error' : state, text) : text;
  };
  return align(rows, { width: lineWidth(), paint: painter }).join('\n');
}

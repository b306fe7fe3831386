import { setTimeout as delay } from 'node:timers/promises';
import { CribError } from '../model/crib-error.ts';
import { align } from './align.ts';
import { countTools, paintState } from './describe-source.ts';
import type { PlannedSource } from './import-plan.ts';
import { openProgressLine } from './progress-line.ts';
import type { ShownSource, SourceClient } from './source-client.ts';
import { lineWidth } from './terminal.ts';

/** What became of one entry of the file. */
export interface ImportOutcome {
  entry: string;
  source: ShownSource | null;
  error: { code: string; message: string } | null;
}

/** Registers one after the other. A refusal is the outcome of that entry alone; a server that is gone ends it all. */
export async function registerAll(plan: readonly PlannedSource[], sources: SourceClient): Promise<ImportOutcome[]> {
  const outcomes: ImportOutcome[] = [];
  for (const { entry, form, problem } of plan) {
    if (form === null) outcomes.push({ entry, source: null, error: { code: 'VALIDATION_ERROR', message: problem ?? '' } });
    else outcomes.push(await register(entry, () => sources.register(form)));
  }
  return outcomes;
}

/** Hundreds of entries are more than may be registered at once: the rest waits until it may. */
const rateLimitedMs = 1000;

async function register(entry: string, send: () => Promise<ShownSource>): Promise<ImportOutcome> {
  try {
    return { entry, source: await send(), error: null };
  } catch (error) {
    if (error instanceof CribError && error.code === 'RATE_LIMITED') {
      await delay(rateLimitedMs);
      return register(entry, send);
    }
    if (!(error instanceof CribError) || !isRefusal(error)) throw error;
    return { entry, source: null, error: { code: error.code, message: error.message } };
  }
}

/** Of the entry alone. Somebody who may not register anything at all is told so without a field. */
function isRefusal({ code, field }: CribError): boolean {
  return code === 'VALIDATION_ERROR' || code === 'CONFLICT' || (code === 'FORBIDDEN' && field !== undefined);
}

/** Each as it is when it has started or failed, or as it was when somebody had enough of waiting. */
export async function waitForAll(outcomes: readonly ImportOutcome[], sources: SourceClient, signal: AbortSignal): Promise<ImportOutcome[]> {
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
        return { ...outcome, source, error: { code, message } };
      }),
    );
  } finally {
    progress.end();
  }
}

export function outcomeTable(outcomes: readonly ImportOutcome[]): string {
  const states = outcomes.map(({ source }) => source?.status.state ?? 'refused');
  const rows = outcomes.map(({ entry, source, error }, index) => {
    const { tools } = source?.status ?? {};
    return [source?.namespace ?? entry, states[index] ?? '', error?.message ?? (tools === undefined ? '' : countTools(tools))];
  });
  const painter = (text: string, column: number, row: number) => {
    const state = states[row] ?? '';
    return column === 1 ? paintState(state === 'refused' ? 'error' : state, text) : text;
  };
  return align(rows, { width: lineWidth(), paint: painter }).join('\n');
}

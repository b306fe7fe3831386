import { setTimeout as pause } from 'node:timers/promises';
import { openProgressLine } from './progress-line.ts';
import { createSourceClient, type Administrator } from './source-client.ts';
import { followSourceLog, readSourceLog, type ShownLine } from './source-log.ts';

export interface Watched {
  id: string;
  /** What is going on, such as `Starting everything`. */
  label: string;
  /** Whether it is new, so that all of its output is new too. */
  isNew?: boolean;
  signal: AbortSignal;
}

/** The most lines that a source keeps. */
const keptLines = 1000;
const askEveryMs = 1000;

/** Shows the output of a source while something is done with it. Failing to show it fails nothing else. */
export async function whileWatching<Result>(administrator: Administrator, watched: Watched, act: () => Promise<Result>): Promise<Result> {
  const { id, label, isNew = false, signal } = watched;
  const old = isNew ? { lines: [] } : await readSourceLog(administrator, id, { lines: 1 }, signal).catch(() => ({ lines: [] }));
  let shownUntil: ShownLine | undefined = old.lines.at(-1);
  const progress = openProgressLine(label);
  const show = (line: ShownLine) => {
    shownUntil = line;
    // The command reports events at its end; here only the output of the server is shown.
    if (line.stream === 'stderr') progress.say(line.text);
  };

  const done = new AbortController();
  const over = AbortSignal.any([signal, done.signal]);
  const since = shownUntil?.time ?? -1;
  const following = (async () => {
    const lines = followSourceLog(administrator, id, { lines: keptLines }, over);
    for await (const line of lines) if (line.time > since) show(line);
  })().catch(() => undefined);
  const asking = tellStatus().catch(() => undefined);

  try {
    return await act();
  } finally {
    done.abort();
    await Promise.all([following, asking]);
    if (!signal.aborted) await showRest();
    progress.end();
  }

  /** That npx is fetching it, for instance, and for how long. */
  async function tellStatus(): Promise<void> {
    const sources = createSourceClient(administrator);
    for (;;) {
      await pause(askEveryMs, undefined, { signal: over });
      const { status } = await sources.find(id);
      progress.tell(status.state === 'starting' ? (status.message ?? '') : '');
    }
  }

  /** The last output may still be on its way. */
  async function showRest(): Promise<void> {
    const { lines } = await readSourceLog(administrator, id, { lines: keptLines }).catch(() => ({ lines: [] }));
    const last = lines.findLastIndex((line) => line.time === shownUntil?.time && line.text === shownUntil.text);
    lines.slice(last + 1).forEach(show);
  }
}

import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';

interface FileWatch {
  path: string;
  /** Reads the file; rejects where it cannot be read. */
  read(path: string): Promise<string>;
  /** What was read of it before. */
  seen: string;
  onText(text: string): Promise<void>;
  /** Told once, until it can be read again. */
  onUnreadable(error: unknown): void;
  /** How long a file has to stay the same to be taken for finished: it may be written in several steps. */
  settleMs?: number;
  /** How often it is looked at in any case, for file systems that tell nothing and links that lead elsewhere. */
  pollMs?: number;
}

/**
 * Tells what is in a file whenever that is something else. The folder is watched, because editors replace the file, and because what
 * changes in a Kubernetes volume is a link beside it.
 */
export function watchFile({ path, read, seen, onText, onUnreadable, settleMs = 100, pollMs = 5000 }: FileWatch): AsyncDisposable {
  type Look = { text: string } | { error: unknown };
  const same = (a: Look, b: Look) => ('text' in a ? 'text' in b && a.text === b.text : 'error' in b);
  let told: Look = { text: seen };
  let last: Look = told;
  let settling: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let isOver = false;

  async function look(): Promise<void> {
    if (isOver) return;
    const found: Look = await read(path).then(
      (text) => ({ text }),
      (error: unknown) => ({ error }),
    );
    const isSettled = same(found, last);
    last = found;
    if (!isSettled) return lookSoon();
    if (same(found, told)) return;
    told = found;
    if ('text' in found) await onText(found.text);
    else onUnreadable(found.error);
  }

  function lookSoon(): void {
    clearTimeout(settling);
    if (!isOver) settling = setTimeout(lookNow, settleMs);
  }

  function lookNow(): void {
    looking = looking.then(look);
  }

  const watcher = watchFolder(dirname(path), lookSoon);
  const polling = setInterval(lookNow, pollMs);
  polling.unref();
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      watcher?.close();
      clearTimeout(settling);
      clearInterval(polling);
      await looking;
    },
  };
}

/** Undefined where nothing is told, as when the system has no more watches to give: then it is only looked now and then. */
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

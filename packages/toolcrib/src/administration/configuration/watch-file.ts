import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';

interface FileWatch {
  path: string;
  /** Rejects if the file cannot be read. */
  read(path: string): Promise<string>;
  /** The text as last read. */
  seen: string;
  onText(text: string): Promise<void>;
  /** Called once, until the file can be read again. */
  onUnreadable(error: unknown): void;
  /** How long the file must stay unchanged before it counts as complete: it may be written in several steps. */
  settleMs?: number;
  /** How often the file is polled anyway, for file systems that report no changes and for links into other folders. */
  pollMs?: number;
}

/**
 * Calls `onText` whenever the content of a file changes. Watches the folder, because editors replace the file, and because in a Kubernetes
 * volume only a link beside the file changes.
 */
export function watchFile({ path, read, seen, onText, onUnreadable, settleMs = 100, pollMs = 5000 }: FileWatch): AsyncDisposable {
  type Look = { text: string } | { error: unknown };
  const same = (a: Look, b: Look) => ('text' in a ? 'text' in b && a.text === b.text : 'error' in b);
  let reported: Look = { text: seen };
  let last: Look = reported;
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
    if (same(found, reported)) return;
    reported = found;
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

/** Undefined if the folder cannot be watched, for example because the system is out of watches: then only polling sees changes. */
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

import type { CallRecord } from '../model/call.ts';

export interface Recorder {
  /** Resolves when the record is durable: only then may the call be answered. */
  record(record: CallRecord): Promise<void>;
  /** Resolves when everything recorded so far is written; what could not be written has been reported to whoever recorded it. */
  drain(): Promise<void>;
}

interface RecorderInput {
  append(records: CallRecord[]): Promise<void>;
  /** [OPS-1] Told how long each batch took, and whether it failed. */
  onWritten?(batch: { seconds: number; failed: boolean }): void;
}

/** For how long a busy server collects. */
const mostTurns = 6;

/**
 * [SEC-4] Writes together what finished in the same turn of the event loop, and in the next ones where more calls finish in each. One
 * transaction for many calls is what makes a durable record per call affordable; while one batch is being written, the next one collects.
 */
export function createRecorder({ append, onWritten }: RecorderInput): Recorder {
  let collecting: CallRecord[] = [];
  let written: Promise<void> | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** As long as every turn brings more, and not for long. */
  async function collected(): Promise<void> {
    for (let turns = 0, before = 0; turns < mostTurns && collecting.length > before; turns++) {
      before = collecting.length;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async function write(): Promise<void> {
    // A failed batch has failed its own calls; the next one is tried all the same.
    await writing.catch(() => undefined);
    const records = collecting;
    collecting = [];
    written = undefined;
    const began = performance.now();
    let failed = true;
    try {
      writing = append(records);
      await writing;
      failed = false;
    } finally {
      onWritten?.({ seconds: (performance.now() - began) / 1000, failed });
    }
  }

  return {
    record(record) {
      collecting.push(record);
      written ??= collected().then(write);
      return written;
    },
    async drain() {
      await written?.catch(() => undefined);
      await writing.catch(() => undefined);
    },
  };
}

import type { McpSession } from '../session/mcp-session.ts';
import { openCurrent } from './open-current.ts';

export interface Standby {
  /** How many are ready. */
  readonly ready: number;
  /** An unused session that is ready, or undefined. It is replaced a moment later. */
  take(): McpSession | undefined;
  /** The sessions that are ready. */
  readonly sessions: Iterable<McpSession>;
  /** Resolves when those being started are ready or have failed; undefined where none is. */
  readonly opening: Promise<unknown> | undefined;
  /** Closes these and starts others in their place. */
  replace(outdated: ReadonlySet<McpSession>): void;
  /** Starts as many as are missing. */
  fill(): void;
  close(): Promise<void>;
}

interface StandbyInput {
  size: number;
  open(signal: AbortSignal): Promise<McpSession>;
  /** Called when one could not be started; the next call then tries for itself. */
  onFailure(error: unknown): void;
}

/** Starting a process blocks everything else for some milliseconds; most calls are answered before this. */
const refillAfterMs = 10;

/** [MCP-6] Keeps transient servers fast: sessions opened in advance, each for exactly one call. */
export function createStandby({ size, open, onFailure }: StandbyInput): Standby {
  const ready = new Set<McpSession>();
  const starting = new Set<Promise<void>>();
  const closing = new AbortController();
  let refill: NodeJS.Timeout | undefined;

  async function startOne(): Promise<void> {
    const session = await openCurrent(() => open(closing.signal));
    if (closing.signal.aborted) return session.close();
    ready.add(session);
    session.onLost(() => {
      ready.delete(session);
      // Its process may still run when only the connection was cut.
      void session.close().catch(() => undefined);
    });
  }

  function fill(): void {
    while (!closing.signal.aborted && ready.size + starting.size < size) {
      const attempt: Promise<void> = startOne()
        .catch((error: unknown) => {
          if (!closing.signal.aborted) onFailure(error);
        })
        .finally(() => starting.delete(attempt));
      starting.add(attempt);
    }
  }

  return {
    get ready() {
      return ready.size;
    },
    take() {
      const [session] = ready;
      if (session !== undefined) ready.delete(session);
      refill ??= setTimeout(() => {
        refill = undefined;
        fill();
      }, refillAfterMs);
      return session;
    },
    sessions: ready,
    get opening() {
      return starting.size === 0 ? undefined : Promise.all(starting);
    },
    replace(outdated) {
      for (const session of outdated) if (ready.delete(session)) void session.close().catch(() => undefined);
      fill();
    },
    fill,
    async close() {
      clearTimeout(refill);
      closing.abort();
      await Promise.allSettled(starting);
      await Promise.allSettled([...ready].map((session) => session.close()));
      ready.clear();
    },
  };
}

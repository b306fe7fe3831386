export interface RefreshSchedule {
  start(): void;
  /** Resolves when a refresh that is on its way has ended. */
  stop(): Promise<void>;
}

interface RefreshScheduleInput {
  /** 0 never refreshes. */
  intervalMs: number;
  /** Must not reject. */
  refresh(): Promise<void>;
  random?: () => number;
}

/**
 * [INV-1] Asks again after each interval, a tenth more or less, so that sources that were started together do not ask together. The next
 * one is counted from the end of the one before, so a slow server is never asked twice at once.
 */
export function createRefreshSchedule({ intervalMs, refresh, random = Math.random }: RefreshScheduleInput): RefreshSchedule {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  function arm(): void {
    clearTimeout(timer);
    const next = setTimeout(() => void run(next), intervalMs * (0.9 + 0.2 * random()));
    next.unref();
    timer = next;
  }

  async function run(mine: NodeJS.Timeout): Promise<void> {
    running = refresh();
    await running;
    running = undefined;
    // Stopped meanwhile, or started anew.
    if (timer === mine) arm();
  }

  return {
    start() {
      if (intervalMs > 0) arm();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      await running;
    },
  };
}

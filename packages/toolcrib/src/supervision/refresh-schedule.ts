export interface RefreshSchedule {
  start(): void;
  /** Resolves when a refresh under way has ended. */
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
 * [INV-1] Refreshes after each interval, with 10 % jitter, so that sources started together do not refresh together. The interval counts
 * from the end of the previous refresh, so that a slow server never gets two at once.
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
    // Unless the schedule was stopped or started again meanwhile.
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

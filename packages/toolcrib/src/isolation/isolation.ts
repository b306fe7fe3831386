import { CribError } from '../model/crib-error.ts';
import { createFairQueue } from '../resilience/fair-queue.ts';
import { startIsolated, type IsolatedEnd, type IsolatedProcess, type IsolatedProcessOptions } from './isolated-process.ts';

/** Who asked for work, and whether they still wait for it. */
export interface Turn {
  /** Waiting work takes turns by this key. */
  caller: string;
  signal: AbortSignal;
  /** Called whenever its place in line changes: 1 is next, 0 is running. Not called where it need not wait. */
  onPlace?(this: void, place: number): void;
}

export interface IsolatedWork extends Omit<IsolatedProcessOptions, 'onMessage'>, Turn {
  /** The first message to the program. */
  input: unknown;
  /** Its approximate size: waiting input is held in memory. */
  inputBytes: number;
  /** Counted from the start of the process; waiting does not count. */
  timeLimitMs: number;
  onMessage(message: unknown, answer: (message: unknown) => void): void;
}

export type IsolatedOutcome = IsolatedEnd | { how: 'time' };

/** Runs work on possibly hostile input in a few processes at a time. */
export interface Isolation {
  /**
   * Resolves with how it ended; at the time limit it does not wait until the process is gone. Rejects with the signal's reason, and with
   * `RATE_LIMITED` where too much is waiting.
   */
  run(work: IsolatedWork): Promise<IsolatedOutcome>;
  /** Resolves when no process is left. */
  close(): Promise<void>;
}

export interface IsolationOptions {
  atOnce?: number;
  mostWaiting?: number;
  mostWaitingBytes?: number;
}

interface Job {
  readonly work: IsolatedWork;
  /** The last place that was reported. */
  place: number;
  start(): void;
  fail(reason: unknown): void;
}

const retryAfterMs = 10_000;

export function createIsolation(options: IsolationOptions = {}): Isolation {
  const { atOnce = 2, mostWaiting = 128, mostWaitingBytes = 256 * 1024 * 1024 } = options;
  const queue = createFairQueue<Job>({ most: mostWaiting, mostPerCaller: Math.ceil(mostWaiting / 2) });
  /** Waiting and running work. */
  const jobs = new Set<Job>();
  /** Each counts from its start until it is really gone, so that there are never too many. */
  const processes = new Set<IsolatedProcess>();
  let waitingBytes = 0;
  let closed = false;

  function dispatch(): void {
    while (processes.size < atOnce) {
      const job = queue.take();
      if (job === undefined) break;
      waitingBytes -= job.work.inputBytes;
      tell(job, 0);
      job.start();
    }
    for (const [index, job] of queue.inOrder().entries()) tell(job, index + 1);
  }

  function tell(job: Job, place: number): void {
    if (job.place !== place) job.work.onPlace?.(place);
    job.place = place;
  }

  function begin(work: IsolatedWork): IsolatedProcess {
    const started = startIsolated({ ...work, onMessage: (message) => work.onMessage(message, started.send) });
    processes.add(started);
    void started.gone.then(() => {
      processes.delete(started);
      dispatch();
    });
    started.send(work.input);
    return started;
  }

  function enqueue(job: Job): void {
    const { caller, inputBytes } = job.work;
    const isFull = queue.size > 0 && waitingBytes + inputBytes > mostWaitingBytes;
    if (isFull || !queue.push(caller, job)) {
      const message = `${queue.size} documents are waiting to be read, and there is no room for more; try again in ${retryAfterMs / 1000} seconds`;
      throw new CribError('RATE_LIMITED', message, { retryAfterMs });
    }
    waitingBytes += inputBytes;
    jobs.add(job);
  }

  function leave(job: Job): void {
    jobs.delete(job);
    const before = queue.size;
    queue.remove(job.work.caller, job);
    if (queue.size === before) return;
    waitingBytes -= job.work.inputBytes;
    dispatch();
  }

  return {
    async run(work) {
      const { signal, timeLimitMs } = work;
      signal.throwIfAborted();
      if (closed) throw closedError();
      const finished = Promise.withResolvers<IsolatedOutcome>();
      let running: IsolatedProcess | undefined;
      let timer: NodeJS.Timeout | undefined;
      const job: Job = {
        work,
        place: 0,
        start() {
          running = begin(work);
          void running.gone.then(finished.resolve);
          timer = setTimeout(() => finished.resolve({ how: 'time' }), timeLimitMs);
        },
        fail: finished.reject,
      };
      const onAbort = () => finished.reject(signal.reason);
      enqueue(job);
      signal.addEventListener('abort', onAbort, { once: true });
      dispatch();
      try {
        return await finished.promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        running?.kill();
        leave(job);
      }
    },
    async close() {
      closed = true;
      while (queue.take() !== undefined) continue;
      for (const job of jobs) job.fail(closedError());
      for (const left of processes) left.kill();
      await Promise.all(Array.from(processes, ({ gone }) => gone));
    },
  };
}

function closedError(): CribError {
  return new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again', { retryAfterMs });
}

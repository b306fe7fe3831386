import { Worker } from 'node:worker_threads';
import { CribError } from '../model/crib-error.ts';
import { createFairQueue } from '../model/fair-queue.ts';

/** Why work was ended before it was done. `begunAnew` is true where the worker had said `anew` by then. */
export interface Stopped {
  readonly stopped: 'time' | 'memory' | 'broken';
  readonly begunAnew: boolean;
}

/** A worker says `ready` once, when it has loaded. It may say `anew` when it has done the first part of its work: the time begins anew. */
export type WorkerMessage<Outcome> = 'ready' | 'anew' | { outcome: Outcome };

export interface WorkerPool<Work, Outcome> {
  /** Rejects with the signal's reason, or a `CribError`. */
  run(work: Work, caller: string, signal?: AbortSignal): Promise<Outcome | Stopped>;
  close(): Promise<void>;
}

export interface WorkerPoolOptions {
  workers: number;
  /** How long one piece of work may take once it has begun. */
  timeLimitMs: number;
  memoryLimitMb: number;
  /** How many may wait, in all. One caller may have half of them. */
  mostWaiting: number;
  /** How many threads work for one caller at the same time; all of them where it is left out. */
  threadsPerCaller?: number;
}

interface Job<Work, Outcome> {
  readonly work: Work;
  readonly caller: string;
  settle(outcome: Outcome | Stopped): void;
  fail(reason: unknown): void;
}

/** One worker thread, from its start until it has really ended. */
interface Seat<Work, Outcome> {
  readonly worker: Worker;
  state: 'starting' | 'idle' | 'busy' | 'ending';
  begunAnew: boolean;
  job?: Job<Work, Outcome> | undefined;
  timer?: NodeJS.Timeout;
  fault?: NodeJS.ErrnoException;
}

/** Runs work that somebody hostile could make endless, on threads that can be ended. Threads start with the first work and are reused. */
export function createWorkerPool<Work, Outcome>(file: URL, options: WorkerPoolOptions): WorkerPool<Work, Outcome> {
  const { workers, timeLimitMs, memoryLimitMb, mostWaiting, threadsPerCaller = workers } = options;
  const seats = new Set<Seat<Work, Outcome>>();
  const queue = createFairQueue<Job<Work, Outcome>>({ most: mostWaiting, mostPerCaller: Math.ceil(mostWaiting / 2) });
  const busy = new Map<string, number>();
  let closed = false;

  function startWorker(): Worker {
    return new Worker(file, {
      // Nothing of ours is of use to the work, and the environment holds secrets.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
  }

  function openSeat(): void {
    let worker: Worker;
    try {
      worker = startWorker();
    } catch (error) {
      return failWaiting(startError(error));
    }
    const seat: Seat<Work, Outcome> = { worker, state: 'starting', begunAnew: false };
    seats.add(seat);
    worker.on('message', (message: WorkerMessage<Outcome>) => hear(seat, message));
    worker.on('error', (error: NodeJS.ErrnoException) => (seat.fault = error));
    worker.on('exit', () => leave(seat));
  }

  function hear(seat: Seat<Work, Outcome>, message: WorkerMessage<Outcome>): void {
    if (message === 'anew') {
      seat.begunAnew = true;
      seat.timer?.refresh();
      return;
    }
    if (message !== 'ready') release(seat)?.settle(message.outcome);
    if (seat.state === 'ending') return;
    seat.state = 'idle';
    dispatch();
  }

  function leave(seat: Seat<Work, Outcome>): void {
    seats.delete(seat);
    const stopped = seat.fault?.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'broken';
    release(seat)?.settle({ stopped, begunAnew: seat.begunAnew });
    // Whoever waits must not wait for threads that cannot be started.
    if (seat.state === 'starting') failWaiting(startError(seat.fault));
    dispatch();
  }

  /** Takes the job off the seat; it is settled by whoever gets it. */
  function release(seat: Seat<Work, Outcome>): Job<Work, Outcome> | undefined {
    const { job } = seat;
    clearTimeout(seat.timer);
    seat.job = undefined;
    if (job !== undefined) count(job.caller, -1);
    return job;
  }

  function count(caller: string, more: number): void {
    const now = (busy.get(caller) ?? 0) + more;
    if (now === 0) busy.delete(caller);
    else busy.set(caller, now);
  }

  function end(seat: Seat<Work, Outcome>): void {
    seat.state = 'ending';
    void seat.worker.terminate();
  }

  function dispatch(): void {
    let starting = 0;
    for (const seat of seats) {
      if (seat.state === 'idle') begin(seat);
      else if (seat.state === 'starting') starting++;
    }
    // A seat counts until its thread has ended, so there are never more threads than workers.
    for (; queue.size > starting && seats.size < workers; starting++) openSeat();
  }

  function begin(seat: Seat<Work, Outcome>): void {
    const job = queue.take((caller) => (busy.get(caller) ?? 0) < threadsPerCaller);
    // An idle thread does not keep the process alive; a busy one does.
    if (!job) return seat.worker.unref();
    seat.worker.ref();
    seat.state = 'busy';
    seat.begunAnew = false;
    seat.job = job;
    count(job.caller, 1);
    seat.timer = setTimeout(() => {
      end(seat);
      release(seat)?.settle({ stopped: 'time', begunAnew: seat.begunAnew });
    }, timeLimitMs);
    seat.worker.postMessage(job.work, []);
  }

  function cancel(job: Job<Work, Outcome>, reason: unknown): void {
    queue.remove(job.caller, job);
    for (const seat of seats) {
      if (seat.job !== job) continue;
      release(seat);
      end(seat);
    }
    job.fail(reason);
  }

  function failWaiting(reason: CribError): void {
    for (let job = queue.take(); job; job = queue.take()) job.fail(reason);
  }

  return {
    run(work, caller, signal) {
      return new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (closed) throw closedError();
        const onAbort = () => cancel(job, signal?.reason);
        const job: Job<Work, Outcome> = {
          work,
          caller,
          settle(outcome) {
            signal?.removeEventListener('abort', onAbort);
            resolve(outcome);
          },
          fail(reason) {
            signal?.removeEventListener('abort', onAbort);
            reject(reason);
          },
        };
        if (!queue.push(caller, job)) {
          throw new CribError('RATE_LIMITED', 'Too many calls of this kind are waiting; try again in a moment.', {
            retryAfterMs: timeLimitMs,
          });
        }
        signal?.addEventListener('abort', onAbort, { once: true });
        dispatch();
      });
    },

    async close() {
      closed = true;
      failWaiting(closedError());
      for (const seat of seats) release(seat)?.fail(closedError());
      await Promise.all(Array.from(seats, ({ worker }) => worker.terminate()));
    },
  };
}

function closedError(): CribError {
  return new CribError('SERVICE_UNAVAILABLE', 'The server is shutting down; call again once it is back.', { origin: 'gateway' });
}

function startError(cause: unknown): CribError {
  return new CribError('INTERNAL', 'The thread that does this work could not be started.', { cause });
}

import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CribError } from '../../../model/crib-error.ts';
import { createFairQueue } from '../../../model/fair-queue.ts';
import type { Work, WorkerMessage, WorkOutcome } from './work.ts';

export interface ComputePool {
  /** Too much time or memory is an outcome with `failure`. Rejects with the signal's reason, or a `CribError`. */
  run(work: Work, caller: string, signal: AbortSignal): Promise<WorkOutcome>;
  close(): Promise<void>;
}

export interface ComputePoolOptions {
  workers?: number;
  /** How long one piece of work may take once it has begun. */
  timeLimitMs?: number;
  memoryLimitMb?: number;
  /** How many may wait, in all. */
  mostWaiting?: number;
}

interface Job {
  readonly work: Work;
  readonly caller: string;
  settle(outcome: WorkOutcome): void;
  fail(reason: unknown): void;
}

/** One worker thread, from its start until it has really ended. */
interface Seat {
  readonly worker: Worker;
  state: 'starting' | 'idle' | 'busy' | 'ending';
  job?: Job;
  timer?: NodeJS.Timeout;
  fault?: NodeJS.ErrnoException;
}

// The source runs as TypeScript, the package as JavaScript; the worker's file stands beside this one in both.
const workerFile = new URL(`./compute-worker${extname(import.meta.url)}`, import.meta.url);

/** Runs work that a hostile caller could make endless, on threads that can be ended. Threads start with the first work and are reused. */
export function createComputePool({
  workers = 2,
  timeLimitMs = 2000,
  memoryLimitMb = 128,
  mostWaiting = 64,
}: ComputePoolOptions = {}): ComputePool {
  const seats = new Set<Seat>();
  const queue = createFairQueue<Job>({ most: mostWaiting, mostPerCaller: Math.ceil(mostWaiting / 2) });
  let closed = false;

  function startWorker(): Worker {
    return new Worker(workerFile, {
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
    const seat: Seat = { worker, state: 'starting' };
    seats.add(seat);
    worker.on('message', (message: WorkerMessage) => {
      if (message !== 'ready') release(seat)?.settle(message);
      if (seat.state === 'ending') return;
      seat.state = 'idle';
      dispatch();
    });
    worker.on('error', (error: NodeJS.ErrnoException) => (seat.fault = error));
    worker.on('exit', () => leave(seat));
  }

  function leave(seat: Seat): void {
    seats.delete(seat);
    const memory = seat.fault?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    release(seat)?.settle({ failure: memory ? `It needed more than ${memoryLimitMb} MB of memory and was stopped.` : 'It broke off.' });
    // Whoever waits must not wait for threads that cannot be started.
    if (seat.state === 'starting') failWaiting(startError(seat.fault));
    dispatch();
  }

  /** Takes the job off the seat; it is settled by whoever gets it. */
  function release(seat: Seat): Job | undefined {
    const { job } = seat;
    clearTimeout(seat.timer);
    seat.job = undefined;
    return job;
  }

  function end(seat: Seat): void {
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

  function begin(seat: Seat): void {
    const job = queue.take();
    // An idle thread does not keep the process alive; a busy one does.
    if (!job) return seat.worker.unref();
    seat.worker.ref();
    seat.state = 'busy';
    seat.job = job;
    seat.timer = setTimeout(() => {
      release(seat)?.settle({ failure: `It took longer than ${timeLimitMs / 1000} seconds and was stopped.` });
      end(seat);
    }, timeLimitMs);
    seat.worker.postMessage(job.work, []);
  }

  function cancel(job: Job, reason: unknown): void {
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
        signal.throwIfAborted();
        if (closed) throw closedError();
        const onAbort = () => cancel(job, signal.reason);
        const job: Job = {
          work,
          caller,
          settle(outcome) {
            signal.removeEventListener('abort', onAbort);
            resolve(outcome);
          },
          fail(reason) {
            signal.removeEventListener('abort', onAbort);
            reject(reason);
          },
        };
        if (!queue.push(caller, job)) {
          throw new CribError('RATE_LIMITED', 'Too many calls of this kind are waiting; try again in a moment.', {
            retryAfterMs: timeLimitMs,
          });
        }
        signal.addEventListener('abort', onAbort, { once: true });
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
  return new CribError('SERVICE_UNAVAILABLE', 'The built-in tools are shutting down; call again once the server is back.');
}

function startError(cause: unknown): CribError {
  return new CribError('INTERNAL', 'The thread that does this work could not be started.', { cause });
}

import { CribError } from '../model/crib-error.ts';
import type { EndSignal } from '../model/end-signal.ts';
import { createFairQueue } from '../resilience/fair-queue.ts';
import { WorkerSeat, type Job, type Stopped } from './worker-seat.ts';

export interface WorkerPool<Work, Outcome> {
  /** Rejects with the signal's reason, or a `CribError`. */
  run(work: Work, caller: string, signal?: EndSignal): Promise<Outcome | Stopped>;
  close(): Promise<void>;
}

export interface WorkerPoolOptions {
  workers: number;
  /** How long one job may take once it has begun. */
  timeLimitMs: number;
  memoryLimitMb: number;
  /** How many jobs may wait in total. One caller may have half of them. */
  mostWaiting: number;
  /** How many threads work for one caller at the same time; all of them if left out. */
  threadsPerCaller?: number;
}

/** Runs jobs that a hostile caller could make endless, on threads that can be terminated. Threads start on demand and are reused. */
export function createWorkerPool<Work, Outcome>(file: URL, options: WorkerPoolOptions): WorkerPool<Work, Outcome> {
  const { workers, timeLimitMs, memoryLimitMb, mostWaiting, threadsPerCaller = workers } = options;
  // A seat counts until its thread has ended, so there are never more threads than workers.
  const seats = new Set<WorkerSeat<Work, Outcome>>();
  const queue = createFairQueue<Job<Work, Outcome>>({ most: mostWaiting, mostPerCaller: Math.ceil(mostWaiting / 2) });
  const busy = new Map<string, number>();
  let closed = false;

  function openSeat(): void {
    const onReleased = ({ caller }: Job<Work, Outcome>) => count(caller, -1);
    try {
      seats.add(new WorkerSeat({ file, timeLimitMs, memoryLimitMb, onIdle: dispatch, onReleased, onExit: leave }));
    } catch (error) {
      failWaiting(startError(error));
    }
  }

  function leave(seat: WorkerSeat<Work, Outcome>, failedToStart: { cause: unknown } | undefined): void {
    seats.delete(seat);
    // Jobs must not wait for threads that cannot be started.
    if (failedToStart !== undefined) failWaiting(startError(failedToStart.cause));
    dispatch();
  }

  function count(caller: string, more: number): void {
    const now = (busy.get(caller) ?? 0) + more;
    if (now === 0) busy.delete(caller);
    else busy.set(caller, now);
  }

  function dispatch(): void {
    let starting = 0;
    for (const seat of seats) {
      if (seat.state === 'idle') seatNext(seat);
      else if (seat.state === 'starting') starting++;
    }
    for (; queue.size > starting && seats.size < workers; starting++) openSeat();
  }

  function seatNext(seat: WorkerSeat<Work, Outcome>): void {
    const job = queue.take((caller) => (busy.get(caller) ?? 0) < threadsPerCaller);
    if (job === undefined) return seat.rest();
    count(job.caller, 1);
    seat.begin(job);
  }

  function cancel(job: Job<Work, Outcome>, reason: unknown): void {
    queue.remove(job.caller, job);
    for (const seat of seats) {
      if (seat.job !== job) continue;
      seat.release();
      void seat.end();
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
          throw new CribError('RATE_LIMITED', 'Too many calls of this kind are waiting: try again in a moment.', {
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
      for (const seat of seats) seat.release()?.fail(closedError());
      await Promise.all(Array.from(seats, (seat) => seat.end()));
    },
  };
}

function closedError(): CribError {
  return new CribError('SERVICE_UNAVAILABLE', 'The server is shutting down: try again once it is back.', { origin: 'gateway' });
}

function startError(cause: unknown): CribError {
  return new CribError('INTERNAL', 'The worker thread for this call could not be started.', { cause });
}

import { Worker } from 'node:worker_threads';

/** Why a job was stopped before it was done. `begunAnew`: the worker had sent `anew` by then. */
export interface Stopped {
  readonly stopped: 'time' | 'memory' | 'broken';
  readonly begunAnew: boolean;
}

/** A worker sends `ready` once, when it has loaded. It may send `anew` after the first part of a job, which restarts the time limit. */
export type WorkerMessage<Outcome> = 'ready' | 'anew' | { outcome: Outcome };

export interface Job<Work, Outcome> {
  readonly work: Work;
  readonly caller: string;
  settle(outcome: Outcome | Stopped): void;
  fail(reason: unknown): void;
}

interface SeatInput<Work, Outcome> {
  file: URL;
  timeLimitMs: number;
  memoryLimitMb: number;
  /** Called when the thread has loaded or finished a job. */
  onIdle(): void;
  /** Called when the job has left this seat, for whatever reason. */
  onReleased(job: Job<Work, Outcome>): void;
  /** Called when the thread has ended. `failedToStart` has the cause if it never loaded. */
  onExit(seat: WorkerSeat<Work, Outcome>, failedToStart: { cause: unknown } | undefined): void;
}

/** One worker thread, from its start until it has really ended. */
export class WorkerSeat<Work, Outcome> {
  state: 'starting' | 'idle' | 'busy' | 'ending' = 'starting';
  job: Job<Work, Outcome> | undefined;
  readonly #input: SeatInput<Work, Outcome>;
  readonly #worker: Worker;
  #begunAnew = false;
  #timer: NodeJS.Timeout | undefined;
  #fault: NodeJS.ErrnoException | undefined;

  constructor(input: SeatInput<Work, Outcome>) {
    this.#input = input;
    this.#worker = new Worker(input.file, {
      // The worker needs no environment variables, and they hold secrets.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: input.memoryLimitMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    this.#worker.on('message', (message: WorkerMessage<Outcome>) => this.#hear(message));
    this.#worker.on('error', (error: NodeJS.ErrnoException) => (this.#fault = error));
    this.#worker.on('exit', () => this.#exited());
  }

  /** Begins the job on an idle thread. */
  begin(job: Job<Work, Outcome>): void {
    this.#worker.ref();
    this.state = 'busy';
    this.#begunAnew = false;
    this.job = job;
    this.#timer = setTimeout(() => {
      void this.end();
      this.release()?.settle({ stopped: 'time', begunAnew: this.#begunAnew });
    }, this.#input.timeLimitMs);
    this.#worker.postMessage(job.work, []);
  }

  /** An idle thread does not keep the process alive; a busy one does. */
  rest(): void {
    this.#worker.unref();
  }

  /** Takes the job off the seat; the caller settles it. */
  release(): Job<Work, Outcome> | undefined {
    const { job } = this;
    clearTimeout(this.#timer);
    this.job = undefined;
    if (job !== undefined) this.#input.onReleased(job);
    return job;
  }

  async end(): Promise<void> {
    this.state = 'ending';
    await this.#worker.terminate();
  }

  #hear(message: WorkerMessage<Outcome>): void {
    if (message === 'anew') {
      this.#begunAnew = true;
      this.#timer?.refresh();
      return;
    }
    if (message !== 'ready') this.release()?.settle(message.outcome);
    if (this.state === 'ending') return;
    this.state = 'idle';
    this.#input.onIdle();
  }

  #exited(): void {
    const stopped = this.#fault?.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'broken';
    this.release()?.settle({ stopped, begunAnew: this.#begunAnew });
    this.#input.onExit(this, this.state === 'starting' ? { cause: this.#fault } : undefined);
  }
}

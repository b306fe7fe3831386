/** A job that survives a crash. Its input is encrypted before it is passed here. */
export interface Job {
  readonly id: string;
  readonly input: string;
}

/** The stored steps of a job. */
export interface StepRecords {
  /**
   * Runs `work` the first time, and returns the stored result in later runs; a failure is not stored. Names and their order must be the
   * same in every run, and steps must run one after another.
   */
  once(name: string, work: () => Promise<string>): Promise<string>;
}

/** [OPS-2] Stores jobs and their steps, and has another server resume the jobs of a dead one. */
export interface Durable {
  /**
   * Stores the job, then does `work`. If it succeeds, the job is deleted; if it fails, the job is left to a later start or another
   * server.
   */
  run<Result>(job: Job, work: (records: StepRecords) => Promise<Result>): Promise<Result>;
  /** From now on, resumes abandoned jobs here. */
  recover(resume: (job: Job, records: StepRecords) => Promise<void>): Promise<void>;
  /** The ids of all unfinished jobs, on any server. */
  unfinished(): Promise<ReadonlySet<string>>;
  /** Leaves unfinished jobs to a later start or other servers. */
  close(): Promise<void>;
}

/** A job that has survived this many starts of the server is suspected of crashing it, and given up. */
export const mostResumes = 20;

/** Work that goes on after a crash. What it is about is sealed before it comes here: nobody here can read it. */
export interface Job {
  readonly id: string;
  readonly input: string;
}

/** What a job has done so far. */
export interface StepRecords {
  /**
   * What `work` gave when the job came here for the first time; nothing is remembered where it fails. Names and their order have to be the
   * same in every run, and one step is done after another.
   */
  once(name: string, work: () => Promise<string>): Promise<string>;
}

/** [OPS-2] Keeps jobs and their steps, and finds somebody who goes on with those whose server is gone. */
export interface Durable {
  /**
   * Remembers the job, then does `work`. When that has ended well, the job is forgotten; when it fails, the job is left to whoever comes
   * next: a later start, or another server.
   */
  run<Result>(job: Job, work: (records: StepRecords) => Promise<Result>): Promise<Result>;
  /** From now on, what others have left is done here too. */
  recover(resume: (job: Job, records: StepRecords) => Promise<void>): Promise<void>;
  /** The ids of all jobs that have not ended, whoever is at them. */
  unfinished(): Promise<ReadonlySet<string>>;
  /** What has not ended is left to others from here on. */
  close(): Promise<void>;
}

/** After so many starts that did not live to see its end, a job is suspected of being what ends them. */
export const mostResumes = 20;

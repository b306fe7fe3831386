import type { Jobs } from '../store/jobs.ts';
import { mostResumes, type Durable, type Job, type StepRecords } from './durable.ts';

interface JournalInput {
  jobs: Jobs;
  warn(message: string): void;
}

/** Keeps jobs and steps in our own tables, for a single server: unfinished jobs found at its start are its own. */
export function createJournal({ jobs, warn }: JournalInput): Durable {
  function recordsOf(id: string, known: ReadonlyMap<string, string>): StepRecords {
    return {
      async once(name, work) {
        const before = known.get(name);
        if (before !== undefined) return before;
        const result = await work();
        await jobs.addStep({ job_id: id, name, result });
        return result;
      },
    };
  }

  async function resume(job: Job, attempts: number, go: (job: Job, records: StepRecords) => Promise<void>): Promise<void> {
    if (attempts > mostResumes) return warn(`The call ${job.id} was given up: the server stopped during it ${mostResumes} times`);
    await go(job, recordsOf(job.id, await jobs.stepsOf(job.id)));
  }

  return {
    async run(job, work) {
      await jobs.insert({ ...job, attempts: 0 });
      const result = await work(recordsOf(job.id, new Map()));
      await jobs.delete(job.id);
      return result;
    },

    async recover(go) {
      for (const { attempts, ...job } of await jobs.list()) {
        await jobs.setAttempts(job.id, attempts + 1);
        resume(job, attempts + 1, go)
          .then(
            () => jobs.delete(job.id),
            () => undefined,
          )
          .catch((error: unknown) => warn(`The end of call ${job.id} could not be recorded: ${String(error)}`));
      }
    },

    unfinished: async () => new Set(await jobs.ids()),
    close: async () => undefined,
  };
}

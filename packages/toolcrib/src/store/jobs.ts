import type { Queries, Tables } from './tables.ts';

/** [OPS-2] Work that goes on after a crash, as it is stored. Its content is sealed before it comes here. */
type JobRow = Tables['durable_jobs'];

export type Jobs = ReturnType<typeof createJobs>;

export function createJobs(queries: Queries) {
  return {
    async insert(row: JobRow): Promise<void> {
      await queries.insertInto('durable_jobs').values(row).execute();
    },

    /** The oldest first: ids begin with their time. */
    async list(): Promise<JobRow[]> {
      return queries.selectFrom('durable_jobs').selectAll().orderBy('id').execute();
    },

    async ids(): Promise<string[]> {
      return (await queries.selectFrom('durable_jobs').select('id').execute()).map(({ id }) => id);
    },

    async setAttempts(id: string, attempts: number): Promise<void> {
      await queries.updateTable('durable_jobs').set({ attempts }).where('id', '=', id).execute();
    },

    async addStep(row: Tables['durable_steps']): Promise<void> {
      await queries.insertInto('durable_steps').values(row).execute();
    },

    /** The result of each step, by its name. */
    async stepsOf(id: string): Promise<Map<string, string>> {
      const rows = await queries.selectFrom('durable_steps').select(['name', 'result']).where('job_id', '=', id).execute();
      return new Map(rows.map(({ name, result }) => [name, result]));
    },

    /** Its steps go with it. */
    async delete(id: string): Promise<void> {
      await queries.deleteFrom('durable_jobs').where('id', '=', id).execute();
    },
  };
}

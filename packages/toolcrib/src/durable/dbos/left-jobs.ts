import type { Pool } from 'pg';
import { engineSchema } from './engine-schema.ts';
import { lockOf } from './executor-lock.ts';

const table = `${engineSchema}.workflow_status`;

interface Left {
  /** Whether jobs are queued for any server. */
  isWaiting: boolean;
  /** The ids of dead servers that have unfinished jobs. */
  dead: string[];
}

/** Reads the tables of DBOS without loading DBOS, which most servers never need. */
export function createLeftJobs(pool: Pool) {
  let isThere = false;

  /** The table is missing until the first job ever. */
  async function exists(): Promise<boolean> {
    isThere ||= (await pool.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table])).rows[0]?.there === true;
    return isThere;
  }

  return {
    async find(ownId: string): Promise<Left> {
      if (!(await exists())) return { isWaiting: false, dead: [] };
      const { rows } = await pool.query<{ status: string; executor_id: string }>(
        `select distinct status, executor_id from ${table} where status in ('PENDING', 'ENQUEUED')`,
      );
      const others = rows.filter(({ status, executor_id: id }) => status === 'PENDING' && id !== ownId).map(({ executor_id: id }) => id);
      return { isWaiting: rows.some(({ status }) => status === 'ENQUEUED'), dead: others.length === 0 ? [] : await deadAmong(others) };
    },

    async unfinished(): Promise<ReadonlySet<string>> {
      if (!(await exists())) return new Set();
      const { rows } = await pool.query<{ id: string }>(`select workflow_uuid as id from ${table} where status in ('PENDING', 'ENQUEUED')`);
      return new Set(rows.map(({ id }) => id));
    },
  };

  /** The servers whose lock is free. Acquiring it is the test; it is released with the statement. */
  async function deadAmong(ids: string[]): Promise<string[]> {
    const freeLocks = `select id from unnest($1::text[]) as id where pg_try_advisory_xact_lock(${lockOf('id')})`;
    return (await pool.query<{ id: string }>(freeLocks, [ids])).rows.map(({ id }) => id);
  }
}

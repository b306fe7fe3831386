import type { Pool } from 'pg';
import { engineSchema } from './engine-schema.ts';
import { lockOf } from './executor-lock.ts';

const table = `${engineSchema}.workflow_status`;

interface Left {
  /** Whether there are jobs that wait for anybody. */
  isWaiting: boolean;
  /** Servers that are gone, and were at something. */
  dead: string[];
}

/** Reads what DBOS knows, without DBOS: most servers never need it. */
export function createLeftJobs(pool: Pool) {
  let isThere = false;

  /** Before the first job of all there is nothing. */
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

  /** Those whose lock could be had, which ends with the statement. */
  async function deadAmong(ids: string[]): Promise<string[]> {
    const asked = `select id from unnest($1::text[]) as id where pg_try_advisory_xact_lock(${lockOf('id')})`;
    return (await pool.query<{ id: string }>(asked, [ids])).rows.map(({ id }) => id);
  }
}

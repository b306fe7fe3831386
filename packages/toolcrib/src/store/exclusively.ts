import { setTimeout as delay } from 'node:timers/promises';
import { CribError } from '../model/crib-error.ts';
import type { Database, PostgresDatabase } from './database.ts';

/** Runs work while nobody else who shares the database runs any of it. Changes are not held up: only others who ask here are. */
export type Exclusively = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** "conf" in ASCII. */
const configurationLock = 0x636f6e66;
const askAgainMs = 100;
const patienceMs = 60_000;

export function createExclusively(database: Database, lockId = configurationLock): Exclusively {
  let queue: Promise<unknown> = Promise.resolve();
  return (work) => {
    const alone = database.dialect === 'sqlite' ? work : () => underLock(database, lockId, work);
    const result = queue.then(alone);
    queue = result.catch(() => undefined);
    return result;
  };
}

/** The lock belongs to a connection, so it goes with a server that dies. Waiting holds no connection: the work itself needs them. */
async function underLock<Result>({ pool }: PostgresDatabase, lockId: number, work: () => Promise<Result>): Promise<Result> {
  for (const giveUpAt = performance.now() + patienceMs; ;) {
    const client = await pool.connect();
    let isLocked = false;
    try {
      const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [lockId]);
      isLocked = rows[0]?.locked === true;
      if (isLocked) return await work();
    } finally {
      // A connection that may still hold the lock must not go back to the pool.
      const isFree = !isLocked || (await client.query('select pg_advisory_unlock($1)', [lockId]).then(always, never));
      client.release(!isFree);
    }
    if (performance.now() > giveUpAt)
      throw new CribError('SERVICE_UNAVAILABLE', 'Another server has been doing this for a minute and is not done: try again later');
    await delay(askAgainMs);
  }
}

const always = () => true;
const never = () => false;

import type { Database } from '../store/database.ts';
import { createJobs } from '../store/jobs.ts';
import { createPostgresDurable } from './dbos/postgres-durable.ts';
import type { Durable } from './durable.ts';
import { createJournal } from './journal.ts';

/** [OPS-2] Where there is one server, its own journal is enough; where there are several, DBOS knows who goes on with what. */
export function openDurable(database: Database, warn: (message: string) => void): Durable {
  return database.dialect === 'sqlite'
    ? createJournal({ jobs: createJobs(database.kysely), warn })
    : createPostgresDurable({ database, warn });
}

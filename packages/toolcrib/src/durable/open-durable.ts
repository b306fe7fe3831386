import type { Database } from '../store/database.ts';
import { createJobs } from '../store/jobs.ts';
import { createPostgresDurable } from './dbos/postgres-durable.ts';
import type { Durable } from './durable.ts';
import { createJournal } from './journal.ts';

/** [OPS-2] A single server needs only its own journal; with several, DBOS coordinates which one resumes a job. */
export function openDurable(database: Database, warn: (message: string) => void): Durable {
  return database.dialect === 'sqlite'
    ? createJournal({ jobs: createJobs(database.kysely), warn })
    : createPostgresDurable({ database, warn });
}

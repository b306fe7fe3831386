import type { DatabaseSync } from 'node:sqlite';
import type { ClientConfig, Pool } from 'pg';
import type { Queries } from './tables.ts';

export type DialectName = 'sqlite' | 'postgres';

interface Opened extends AsyncDisposable {
  readonly kysely: Queries;
  close(): Promise<void>;
}

export interface SqliteDatabase extends Opened {
  readonly dialect: 'sqlite';
  /** The connection under the query builder. Use it only while holding the builder's single connection. */
  readonly connection: DatabaseSync;
}

export interface PostgresDatabase extends Opened {
  readonly dialect: 'postgres';
  readonly pool: Pool;
  /** How to open a further connection beside the pool. */
  readonly clientConfig: ClientConfig;
}

/** An open database with the newest schema in it. */
export type Database = SqliteDatabase | PostgresDatabase;

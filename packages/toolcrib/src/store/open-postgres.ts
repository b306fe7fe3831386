import { setTimeout as delay } from 'node:timers/promises';
import { Kysely } from 'kysely';
import type { Client, ClientBase, ClientConfig, Pool } from 'pg';
import { CribError } from '../model/crib-error.ts';
import type { PostgresDatabase } from './database.ts';
import { migrateToLatest } from './migrate-to-latest.ts';
import { PlainPostgresDialect } from './plain-postgres-dialect.ts';
import type { Tables } from './tables.ts';

/** After how long PostgreSQL gives up a statement, and we one that it has not given up: it, or the way to it, is silent. */
const statementTimeoutMs = 9000;
const queryTimeoutMs = 10_000;
/** A connection whose other end is silent never ends properly. */
const closeWithinMs = 2000;

export async function openPostgres(url: string): Promise<PostgresDatabase> {
  const place = describe(url);
  // Imported here, so that servers on SQLite never load it.
  const { default: pg } = await import('pg');
  const clientConfig: ClientConfig = {
    connectionString: url,
    application_name: 'toolcrib',
    connectionTimeoutMillis: 10_000,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    // Ids and times fit a double; only this pool reads them so, as the library's own setting would be everybody's.
    types: { getTypeParser: (type, format) => (type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format)) },
  };
  let pool: PostgresDatabase['pool'] | undefined;
  const streams = new Set<Client['connection']['stream']>();
  try {
    pool = hardened(new pg.Pool({ ...clientConfig, max: 10, onConnect: boundStatements }));
    pool.on('connect', (client) => {
      const { stream } = (client as Client).connection;
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
    });
    // Tried once by itself, because only here the reason why it cannot be reached is wanted in full.
    (await pool.connect()).release();
    // With a pool of its own: migrating large tables takes long.
    const { query_timeout: _bound, ...unbounded } = clientConfig;
    const migrating = new Kysely<Tables>({ dialect: new PlainPostgresDialect(hardened(new pg.Pool({ ...unbounded, max: 2 }))) });
    try {
      await migrateToLatest(migrating, 'postgres', `The PostgreSQL database ${place}`);
    } finally {
      await migrating.destroy();
    }
    const kysely = new Kysely<Tables>({ dialect: new PlainPostgresDialect(pool) });
    const close = async () => {
      await Promise.race([kysely.destroy(), delay(closeWithinMs, undefined, { ref: false })]);
      for (const stream of streams) stream.destroy();
    };
    return { dialect: 'postgres', kysely, pool, clientConfig, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await pool?.end();
    throw error instanceof CribError ? error : cannotOpen(place, error);
  }
}

/** The pool waits for it. Said here and not when connecting, because poolers in between do not know the setting. */
function boundStatements(client: ClientBase): unknown {
  return client.query(`set statement_timeout = ${statementTimeoutMs}`);
}

function hardened(pool: Pool): Pool {
  // The pool replaces an idle connection that broke; without a listener the event would end the process.
  pool.on('error', () => {});
  // The same for one that breaks while it is lent out, between two statements of a transaction; the next statement fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Host, port and database of a URL, which is all of it that may appear in a message. */
function describe(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !['postgres:', 'postgresql:'].includes(parsed.protocol)) {
    // Neither the URL nor the parser's error, which carries it: there may be a password in it.
    throw new CribError(
      'VALIDATION_ERROR',
      'The database URL is not one of PostgreSQL. It must look like postgres://user:password@host:5432/database.',
    );
  }
  return `${parsed.host}${parsed.pathname}`;
}

function cannotOpen(place: string, cause: unknown): CribError {
  const reason = reasonOf(cause);
  switch (codeOf(cause)) {
    case '28P01':
    case '28000':
      return new CribError(
        'SERVICE_UNAVAILABLE',
        `PostgreSQL at ${place} refused the login. Check user and password in the database URL.`,
        { cause },
      );
    case '3D000':
      return new CribError(
        'SERVICE_UNAVAILABLE',
        `The PostgreSQL database ${place} does not exist. Create it first, with createdb for example.`,
        { cause },
      );
    case '42501':
      return new CribError(
        'SERVICE_UNAVAILABLE',
        `The user of the PostgreSQL database ${place} may not create tables there. Grant it CREATE on the schema.`,
        {
          cause,
        },
      );
    default:
      return new CribError(
        'SERVICE_UNAVAILABLE',
        `PostgreSQL at ${place} cannot be used: ${reason}. Check the database URL, and that the server is up.`,
        {
          cause,
        },
      );
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** A host with several addresses fails with one error per address and no message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

import { Kysely } from 'kysely';
import type { ClientConfig } from 'pg';
import { CribError } from '../model/crib-error.ts';
import type { PostgresDatabase } from './database.ts';
import { migrateToLatest } from './migrate-to-latest.ts';
import { PlainPostgresDialect } from './plain-postgres-dialect.ts';
import type { Tables } from './tables.ts';

export async function openPostgres(url: string): Promise<PostgresDatabase> {
  const place = describe(url);
  // Imported here, so that servers on SQLite never load it.
  const { default: pg } = await import('pg');
  const clientConfig: ClientConfig = {
    connectionString: url,
    application_name: 'toolcrib',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // Ids and times fit a double; only this pool reads them so, as the library's own setting would be everybody's.
    types: { getTypeParser: (type, format) => (type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format)) },
  };
  let pool: PostgresDatabase['pool'] | undefined;
  try {
    pool = new pg.Pool({ ...clientConfig, max: 10 });
    // The pool replaces an idle connection that broke; without a listener the event would end the process.
    pool.on('error', () => {});
    // The same for one that breaks while it is lent out, between two statements of a transaction; the next statement fails.
    pool.on('connect', (client) => client.on('error', () => {}));
    // Tried once by itself, because only here the reason why it cannot be reached is wanted in full.
    (await pool.connect()).release();
    const kysely = new Kysely<Tables>({ dialect: new PlainPostgresDialect(pool) });
    await migrateToLatest(kysely, 'postgres', `The PostgreSQL database ${place}`);
    const close = () => kysely.destroy();
    return { dialect: 'postgres', kysely, pool, clientConfig, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await pool?.end();
    throw error instanceof CribError ? error : cannotOpen(place, error);
  }
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

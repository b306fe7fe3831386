import { PostgresDialect, PostgresQueryCompiler, type PostgresPool } from 'kysely';
import type { Pool } from 'pg';
import { CribError } from '../model/crib-error.ts';
import { plainParameter } from './stored-values.ts';

/** Kysely's PostgreSQL dialect, whose statements carry only text that PostgreSQL accepts, and whose outages are reported as such. */
export class PlainPostgresDialect extends PostgresDialect {
  constructor(pool: Pool) {
    super({ pool: kyselyView(pool) });
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new PlainPostgresQueryCompiler();
  }
}

class PlainPostgresQueryCompiler extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    super.addParameter(plainParameter(parameter));
  }
}

function kyselyView(pool: Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      try {
        return await pool.connect();
      } catch (cause) {
        throw new CribError('SERVICE_UNAVAILABLE', 'The database does not answer. Try again shortly.', { cause });
      }
    },
  };
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { SqliteAdapter, SqliteDialect, SqliteQueryCompiler, type SqliteDatabase, type SqliteStatement } from 'kysely';
import { plainParameter } from './stored-values.ts';

const cachedStatements = 200;

/** Kysely's SQLite dialect over the SQLite that is part of Node. */
export class NodeSqliteDialect extends SqliteDialect {
  constructor(connection: DatabaseSync) {
    super({ database: kyselyView(connection) });
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }

  override createQueryCompiler(): SqliteQueryCompiler {
    return new PlainSqliteQueryCompiler();
  }
}

class PlainSqliteQueryCompiler extends SqliteQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    super.addParameter(plainParameter(parameter));
  }
}

/** SQLite can roll back a changed schema, so a migration that is cut short leaves nothing behind. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function kyselyView(connection: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => connection.close(),
    prepare(sql) {
      const known = statements.get(sql);
      // Put back at the end, so that the first one is always the one unused for longest.
      if (known !== undefined) statements.delete(sql);
      const statement = known ?? prepare(connection, sql);
      statements.set(sql, statement);
      if (statements.size > cachedStatements) {
        for (const oldest of statements.keys()) {
          statements.delete(oldest);
          break;
        }
      }
      return statement;
    },
  };
}

function prepare(connection: DatabaseSync, sql: string): SqliteStatement {
  // A transaction that reads first and writes later fails at once, without waiting, when another process wrote in between.
  const statement = connection.prepare(sql === 'begin' ? 'begin immediate' : sql);
  // Some errors, such as a full disk, have rolled back already. Failing at it again would hide why.
  const isOver = sql === 'rollback' ? () => !connection.isTransaction : () => false;
  return {
    reader: statement.columns().length > 0,
    // Node's rows have no prototype; everybody else's objects do.
    all: (parameters) => statement.all(...bindable(parameters)).map((row) => Object.assign({}, row)),
    run: (parameters) => (isOver() ? { changes: 0, lastInsertRowid: 0 } : statement.run(...bindable(parameters))),
    // Its own statement: a cached one could be started again while somebody still walks through its rows.
    iterate: (parameters) => connection.prepare(sql).iterate(...bindable(parameters)),
  };
}

function bindable(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value;
    if (value instanceof Uint8Array) return value;
    throw new TypeError(`SQLite cannot store a ${typeof value}`);
  });
}

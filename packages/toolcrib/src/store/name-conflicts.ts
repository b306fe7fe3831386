import { CribError } from '../model/crib-error.ts';
import { sqliteErrorCode, sqliteResultCodes } from './sqlite-error-code.ts';

const nouns: Record<string, string> = {
  sources: 'source',
  tools: 'tool',
  groups: 'group',
  policies: 'policy',
  secrets: 'secret',
  connections: 'connection',
  documents: 'document',
  answers: 'call',
};

/** Waits for a write. A clash with an existing row, or a missing row that it belongs to, becomes `CONFLICT`. */
export async function nameConflicts<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    throw conflictOf(error) ?? error;
  }
}

function conflictOf(error: unknown): CribError | undefined {
  if (!(error instanceof Error)) return undefined;
  switch (sqliteErrorCode(error)) {
    case sqliteResultCodes.unique:
    case sqliteResultCodes.primaryKey: {
      // "UNIQUE constraint failed: tools.source_id, tools.name"
      const columns = [...error.message.matchAll(/(\w+)\.(\w+)/g)];
      return alreadyThere(
        columns[0]?.[1],
        columns.map((match) => match[2] ?? ''),
        error,
      );
    }
    case sqliteResultCodes.foreignKey:
      return parentMissing(error);
    case undefined:
      return postgresConflictOf(error);
    default:
      return undefined;
  }
}

function postgresConflictOf(error: Error & { code?: unknown; table?: unknown; detail?: unknown }): CribError | undefined {
  const { code, table, detail } = error;
  // https://www.postgresql.org/docs/current/errcodes-appendix.html, class 23
  if (code === '23505') return alreadyThere(String(table), /^Key \(([^)]*)\)/.exec(String(detail))?.[1]?.split(', ') ?? [], error);
  if (code === '23503') return parentMissing(error);
  return undefined;
}

function alreadyThere(table: string | undefined, columns: string[], cause: unknown): CribError {
  const noun = nouns[table ?? ''] ?? 'record';
  const field = columns.at(-1);
  const which = columns.length === 0 ? 'this key' : `this ${columns.join(' and ')}`;
  return new CribError('CONFLICT', `A ${noun} with ${which} is already there. Choose another, or change the one that is there.`, {
    field,
    cause,
  });
}

function parentMissing(cause: unknown): CribError {
  return new CribError('CONFLICT', 'The source this belongs to is not there any more. Register it again first.', { cause });
}

import type { DatabaseSync } from 'node:sqlite';
import { CribError } from '../model/crib-error.ts';
import { sqliteErrorCode, sqliteResultCodes } from './sqlite-error-code.ts';

/** More of them say nothing more. */
const mostProblems = 5;

/** Throws, naming what it found, where pages of a database are damaged. Thoroughly means that indexes are compared with their tables too. */
export function checkPages(connection: DatabaseSync, file: string, { thoroughly }: { thoroughly: boolean }): void {
  let problems: string[];
  try {
    const rows = connection.prepare(`pragma ${thoroughly ? 'integrity_check' : 'quick_check'}(${mostProblems})`).all();
    problems = rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok');
  } catch (error) {
    if (sqliteErrorCode(error) === sqliteResultCodes.busy) throw error;
    problems = [error instanceof Error ? error.message : String(error)];
  }
  if (problems.length === 0) return;
  throw new CribError(
    'SERVICE_UNAVAILABLE',
    `The database file ${file} is damaged (${problems.join('; ').replaceAll(/\s+/g, ' ')}). Keep a copy of it, and restore a backup with \`toolcrib restore\`.`,
  );
}

/** https://sqlite.org/rescode.html; the extended codes carry the primary one in their low byte. */
export const sqliteResultCodes = {
  busy: 5,
  corrupt: 11,
  notADatabase: 26,
  foreignKey: 787,
  primaryKey: 1555,
  unique: 2067,
} as const;

/** The extended result code of an error that came from SQLite. */
export function sqliteErrorCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

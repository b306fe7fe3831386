import { hash } from 'node:crypto';
import { z } from 'zod';
import { CribError } from '../../model/crib-error.ts';

const format = 1;
const magic = 'toolcrib-backup';
/** The size limit of the two lines before the database, which hold little more than the keys. */
export const mostHeaderBytes = 1_048_576;

/** The description at the start of a backup. */
const manifestSchema = z.strictObject({
  made_at: z.number(),
  /** The version that made it. */
  toolcrib: z.string(),
  /** The last migration of the database. */
  migration: z.string(),
  database: z.strictObject({ bytes: z.number(), sha256: z.string() }),
  /** [SEC-4] The heads of the audit record at that time. */
  heads: z.array(z.string()),
  /** The text of `keys.json`; null if the backup does not contain the keys. */
  keys: z.string().nullable(),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** A backup is one file: a line with the format and a checksum, the manifest as a line of JSON, and the SQLite file. */
export function formatHeader(manifest: Manifest): string {
  const line = JSON.stringify(manifest);
  return `${magic} ${format} ${hash('sha256', line)}\n${line}\n`;
}

/** The manifest at the start of a file, and the offset of the database. */
export function parseHeader(beginning: Buffer, file: string): { manifest: Manifest; offset: number } {
  const firstEnd = beginning.indexOf('\n');
  const end = beginning.indexOf('\n', firstEnd + 1);
  const [word, written, checksum] = beginning.subarray(0, Math.max(firstEnd, 0)).toString().split(' ');
  if (word !== magic) throw new CribError('VALIDATION_ERROR', `${file} is not a backup made with \`toolcrib backup\``);
  if (written !== String(format))
    throw new CribError(
      'CONFLICT',
      `${file} was made by a newer Toolcrib (format ${written}): restore it with that version or a later one`,
    );
  const line = beginning.subarray(firstEnd + 1, Math.max(end, 0)).toString();
  if (end < 0 || hash('sha256', line) !== checksum) throw damaged(file, 'its first lines were changed or cut off');
  return { manifest: manifestSchema.parse(JSON.parse(line)), offset: end + 1 };
}

export function damaged(file: string, how: string): CribError {
  return new CribError('VALIDATION_ERROR', `The backup ${file} is damaged: ${how}. Nothing was changed. Use another backup`);
}

import { readFile, stat } from 'node:fs/promises';
import { CribError } from '../../model/crib-error.ts';

export const mostConfigBytes = 1_048_576;

/** Reads a file that the user named. Refuses anything but a regular file of limited size. */
export async function readConfigText(path: string, what = 'configuration file'): Promise<string> {
  const refusal = (why: string) => new CribError('VALIDATION_ERROR', `The ${what} ${path} ${why}`, { field: 'config' });
  try {
    // Checked before it is opened: reading a pipe might never end.
    const found = await stat(path);
    if (!found.isFile()) throw refusal('is not a file');
    if (found.size > mostConfigBytes) throw refusal(`is larger than ${mostConfigBytes} bytes`);
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (cause instanceof CribError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw code === 'ENOENT' ? refusal('does not exist') : refusal(`cannot be read (${code ?? String(cause)})`);
  }
}

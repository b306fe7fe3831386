import { lstat, mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CribError } from '../../model/crib-error.ts';

export interface ClientFileContent {
  /** The file itself, where the path is a link. */
  path: string;
  /** Undefined where there is none. */
  text: string | undefined;
  mode: number;
}

const mostBytes = 16_777_216;

export async function readClientFile(path: string): Promise<ClientFileContent> {
  try {
    const real = await realpath(path);
    const found = await lstat(real);
    if (!found.isFile()) throw new CribError('VALIDATION_ERROR', `${path} is no file`);
    if (found.size > mostBytes) throw new CribError('VALIDATION_ERROR', `${path} is larger than ${mostBytes} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(real));
    return { path: real, text, mode: found.mode & 0o777 };
  } catch (cause) {
    if (cause instanceof CribError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { path, text: undefined, mode: 0o600 };
    const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not in UTF-8' : (code ?? String(cause));
    throw new CribError('VALIDATION_ERROR', `${path} cannot be read: ${why}`, { cause });
  }
}

/** Replaces the file as a whole, unless somebody else has changed it meanwhile. Returns where the old one is kept. */
export async function replaceClientFile({ path, text, mode }: ClientFileContent, changed: string): Promise<string | undefined> {
  const now = await readClientFile(path);
  if (now.text !== text) throw new CribError('CONFLICT', `${path} has been changed meanwhile: try again`);
  await mkdir(dirname(path), { recursive: true });
  const backup = text === undefined ? undefined : `${path}.before-toolcrib`;
  if (backup !== undefined) await writeFile(backup, text ?? '', { mode });
  const next = `${path}.${process.pid}.new`;
  try {
    await writeFile(next, changed, { mode, flag: 'wx' });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  return backup;
}

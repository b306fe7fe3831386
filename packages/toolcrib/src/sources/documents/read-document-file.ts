import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CribError } from '../../model/crib-error.ts';
import { mostDocumentBytes } from '../registration/document-form.ts';

/** [SRC-5] Reads a document on this machine. */
export async function readDocumentFile(path: string): Promise<{ text: string; url: URL }> {
  return { text: await readWhole(path), url: pathToFileURL(path) };
}

/** Reads another file that the document refers to. With links resolved, the file must be in the document's folder or below. */
export async function readReferredFile(wanted: URL, document: URL | null): Promise<string> {
  if (document?.protocol !== 'file:') throw new CribError('FORBIDDEN', 'Only a document that is a file may refer to files');
  const path = await realpath(fileURLToPath(wanted)).catch(() => fileURLToPath(wanted));
  const folder = dirname(await realpath(fileURLToPath(document)));
  if (!path.startsWith(folder + sep)) throw new CribError('FORBIDDEN', 'A document may only refer to files in its own folder');
  return readWhole(path);
}

async function readWhole(path: string): Promise<string> {
  const refusal = (why: string, cause?: unknown) => new CribError('SERVICE_UNAVAILABLE', `The document ${path} ${why}`, { cause });
  let handle;
  try {
    // O_NONBLOCK, because opening a named pipe would wait forever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await handle.stat();
    if (!found.isFile()) throw refusal('is not a file');
    if (found.size > mostDocumentBytes) throw refusal(`is larger than ${mostDocumentBytes} bytes`);
    return await handle.readFile('utf8');
  } catch (cause) {
    if (cause instanceof CribError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw code === 'ENOENT' ? refusal('does not exist', cause) : refusal(`cannot be read (${code ?? String(cause)})`, cause);
  } finally {
    await handle?.close();
  }
}

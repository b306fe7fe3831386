import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { request } from 'undici';
import { CribError } from '../model/crib-error.ts';
import { isObject } from '../model/json.ts';
import { addressName } from '../sources/import/address-name.ts';
import { parseJsonc } from '../model/parse-jsonc.ts';
import { UsageError } from '../model/usage-error.ts';

/** What is to be imported, and a name for a manual that has none. */
interface ImportText {
  config: unknown;
  name: string | undefined;
}

const mostBytes = 33_554_432;
const patienceMs = 30_000;

/** From a file, standard input, or an address on the command line. */
export async function readImportText(operand: string): Promise<ImportText> {
  if (operand === '-') return { config: parsed(await readText(process.stdin)), name: undefined };
  if (/^https?:\/\//i.test(operand)) return fromAddress(operand);
  try {
    const config = parsed(await readFile(operand, 'utf8'));
    return { config, name: basename(operand).replace(/(?:\.utcp)?\.jsonc?$/i, '') };
  } catch (cause) {
    if (cause instanceof CribError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new UsageError(`There is no file ${operand}`, { cause });
    throw new CribError('VALIDATION_ERROR', `The file ${operand} cannot be read (${code ?? String(cause)})`, { cause });
  }
}

/** A manual or an OpenAPI document stays where it is, and the server fetches it again; a list of servers is read once. */
async function fromAddress(url: string): Promise<ImportText> {
  const found = await fetched(url);
  const name = addressName(url);
  const isServers =
    isObject(found) && ['mcpServers', 'servers', 'manual_call_templates', 'call_template_type'].some((field) => field in found);
  return { config: isServers || Array.isArray(found) ? found : { call_template_type: 'http', url }, name };
}

async function fetched(url: string): Promise<unknown> {
  let text: string;
  try {
    const { statusCode, body } = await request(url, {
      signal: AbortSignal.timeout(patienceMs),
      headers: { accept: 'application/json, */*;q=0.5' },
    });
    if (statusCode === 401 || statusCode === 403) {
      body.destroy();
      throw new CribError(
        'VALIDATION_ERROR',
        `${url} answers with ${statusCode}. Write a call template with url and auth into a file, and import that`,
      );
    }
    if (statusCode >= 300) {
      body.destroy();
      throw new CribError('NETWORK_ERROR', `${url} answers with the status ${statusCode}`);
    }
    text = await limited(body);
  } catch (cause) {
    if (cause instanceof CribError) throw cause;
    throw new CribError('NETWORK_ERROR', `${url} cannot be fetched: ${(cause as Error).message}`, { cause });
  }
  try {
    return parseJsonc(text);
  } catch {
    // YAML is for OpenAPI documents, which the server reads.
    return undefined;
  }
}

async function limited(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > mostBytes) throw new CribError('PAYLOAD_TOO_LARGE', `There are more than ${mostBytes} bytes at this address`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return parseJsonc(text);
  } catch (cause) {
    throw new CribError('VALIDATION_ERROR', `The file is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

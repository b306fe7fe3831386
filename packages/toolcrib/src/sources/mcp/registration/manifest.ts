import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { z } from 'zod';
import { CribError } from '../../../model/crib-error.ts';
import { invalid } from '../../registration/invalid.ts';
import type { Manifest } from './manifest-model.ts';
import { fromOwnManifest, ownManifestSchema } from './own-manifest.ts';
import { parseJsonc } from '../../../model/parse-jsonc.ts';
import { isInside } from './plugin-path.ts';
import { refuseReferences } from './refuse-references.ts';
import { fromRegistryManifest } from './registry-manifest.ts';
import { registryManifestSchema, withCurrentNames } from './registry-schema.ts';

const names = ['server.json', 'plugin.json'];
const maxBytes = 1024 * 1024;
const field = 'mcp_plugin_dir';

/** [SRC-7] The manifest of a plugin directory: `server.json`, else `plugin.json`, else undefined. */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  if (!isAbsolute(directory) || directory.includes('\0')) throw invalid(field, 'The plugin directory must be an absolute path');
  const root = await realpath(directory).catch(() => undefined);
  if (root === undefined) throw invalid(field, 'The plugin directory does not exist, or cannot be read');
  for (const name of names) {
    const text = await readInside(root, name);
    if (text !== undefined) return parseManifest(text, { path: join(directory, name), name });
  }
  return undefined;
}

async function readInside(root: string, name: string): Promise<string | undefined> {
  const path = await realpath(join(root, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw invalid(field, `${name} in the plugin directory cannot be read: ${error.code ?? 'unknown reason'}`);
  });
  if (path === undefined) return undefined;
  if (!isInside(root, path)) throw invalid(field, `${name} is a link to a file outside the plugin directory`);
  // O_NOFOLLOW, so that nobody can swap in a link after the check; O_NONBLOCK, so that a named pipe cannot block us.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    throw invalid(field, `${name} in the plugin directory cannot be read: ${error.code ?? 'unknown reason'}`);
  });
  try {
    if (!(await file.stat()).isFile()) throw invalid(field, `${name} in the plugin directory is not a file`);
    const buffer = Buffer.alloc(maxBytes + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > maxBytes) throw invalid(field, `${name} is too large: a manifest has at most ${maxBytes} bytes`);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Reads the text of a manifest of either kind. `name` is the file's name in messages. */
export function parseManifest(text: string, { path, name }: { path: string; name: string }): Manifest {
  let value: unknown;
  try {
    value = parseJsonc(text);
  } catch (cause) {
    throw new CribError('VALIDATION_ERROR', `${name} is not valid JSON: ${(cause as Error).message}`, { field, cause });
  }
  refuseReferences(value, { name, field });
  if (isRegistryForm(value)) return fromRegistryManifest(path, parse(registryManifestSchema, withCurrentNames(value), name));
  return fromOwnManifest(path, parse(ownManifestSchema, value, name));
}

function isRegistryForm(value: unknown): boolean {
  const { packages, remotes } = (value ?? {}) as { packages?: unknown; remotes?: unknown };
  if (Array.isArray(remotes)) return true;
  return (
    Array.isArray(packages) &&
    packages.some((found) => typeof found === 'object' && found !== null && ('registryType' in found || 'registry_type' in found))
  );
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, name: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? [])
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
  const where = path === '' ? name : `${name}: ${path}`;
  throw invalid(field, `${where}: ${issue?.message ?? 'does not match the schema'}`, { file: name, field: path });
}

import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CribError } from '../model/crib-error.ts';
import { isLoopbackHost } from '../net/is-loopback-host.ts';
import { packageCommand } from '../sources/mcp/registration/package-command.ts';
import type { AddOption } from './add-options.ts';
import { documentTarget, type DocumentTarget } from './document-target.ts';
import type { Given } from './given.ts';
import { registryTarget, type RegistryTarget } from './registry-target.ts';
import { UsageError } from './usage-error.ts';

/** What is to be added: a server to connect to, a folder with a manifest, a command that starts one, here or in a container, or a document. */
export type AddTarget =
  | { kind: 'address'; url: string }
  | { kind: 'plugin'; directory: string; args: string[] }
  | { kind: 'container'; container?: string | undefined; image?: string | undefined; command: string[] }
  | { kind: 'package' | 'program'; command: string[] }
  | RegistryTarget
  | DocumentTarget;

const packageTypes = { npx: 'npm', uvx: 'pypi' } as const;

/** What the operands of `toolcrib add` mean. */
export function addTarget({ operands, text, on }: Pick<Given<AddOption>, 'operands' | 'text' | 'on'>): AddTarget {
  const [first = '', ...rest] = operands;
  const [version, container, image] = [text('version'), text('container'), text('image')];
  if (container !== undefined || image !== undefined) {
    if (container !== undefined && image !== undefined)
      throw new UsageError('--container names one that runs, --image one to be made: give one of them', { field: 'image' });
    if (first === '') throw new UsageError('The command to start inside the container is missing: write it behind `--`');
    return { kind: 'container', container, image, command: [first, ...rest] };
  }
  if (first === '') throw new UsageError('Name something to add: npx or uvx and a package, an address, a document, or a program');
  const document = documentTarget(first, { type: typeOf(on) });
  if (document !== undefined) {
    if (rest[0] !== undefined) throw new UsageError(`${JSON.stringify(rest[0])} is one argument too many behind a document`);
    return document;
  }
  const listed = registryTarget(first, version);
  if (listed !== undefined) {
    if (rest[0] !== undefined) throw new UsageError(`${JSON.stringify(rest[0])} is one argument too many behind a server of a registry`);
    return listed;
  }
  if (/^https?:\/\//i.test(first)) {
    if (rest[0] !== undefined) throw new UsageError(`${JSON.stringify(rest[0])} is one argument too many behind an address`);
    return { kind: 'address', url: first };
  }
  if (first === 'npx' || first === 'uvx') return { kind: 'package', command: commandOf(first, rest, version) };
  if (/^@[\w.~-]+\/[\w.~-]+(@|$)/.test(first)) throw new UsageError(`${first} looks like a package: write \`toolcrib add npx ${first}\``);
  if (isFolder(first)) return { kind: 'plugin', directory: resolve(first), args: rest };
  refuseMissing(first, { cwd: text('cwd'), url: text('url') });
  return { kind: 'program', command: [first, ...rest] };
}

function typeOf(on: Given<AddOption>['on']): DocumentTarget['type'] | undefined {
  if (on('openapi') && on('workflow')) throw new UsageError('--openapi or --workflow: a document is one of them', { field: 'workflow' });
  if (on('openapi')) return 'openapi';
  return on('workflow') ? 'workflow' : undefined;
}

/** A name alone is a program, whatever there is in this folder. */
function isFolder(written: string): boolean {
  return /[\\/]|^\.\.?$/.test(written) && statSync(written, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A relative path means one here, where the server is on this machine; any other may be one of the machine that the server runs on. */
function refuseMissing(program: string, { cwd = '.', url = '' }: { cwd?: string | undefined; url?: string | undefined }): void {
  if (!/^\.{1,2}[\\/]/.test(program) || !isLoopbackHost(URL.parse(url)?.hostname ?? '')) return;
  if (!existsSync(resolve(cwd, program))) throw new UsageError(`There is no file or folder ${JSON.stringify(program)} here`);
}

function commandOf(runner: 'npx' | 'uvx', written: readonly string[], version: string | undefined): string[] {
  // `-y` is copied along from pages; it is put back below.
  const own = runner === 'npx' && /^(-y|--yes)$/.test(written[0] ?? '') ? written.slice(1) : written;
  const [identifier, ...args] = own;
  if (identifier === undefined) throw new UsageError('<package> is missing');
  if (identifier.startsWith('-')) {
    // Options of npx or uvx itself, such as `uvx --from package program`: they say where the package stands.
    if (version !== undefined) {
      const example = runner === 'npx' ? '-p name@1.2.3' : "--from 'name==1.2.3'";
      throw new UsageError(`--version is for a package alone: with options of ${runner}, write it behind the package: ${example}`, {
        field: 'version',
      });
    }
    return [runner, ...(runner === 'npx' ? ['-y'] : []), ...own];
  }
  try {
    // Which packages may run is for the server to say.
    return packageCommand({ type: packageTypes[runner], identifier, version }, { args, field: 'identifier', allowRisky: true });
  } catch (cause) {
    throw cause instanceof CribError ? new UsageError(cause.message, { field: cause.field, cause }) : cause;
  }
}

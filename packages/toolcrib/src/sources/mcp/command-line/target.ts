import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CribError } from '../../../model/crib-error.ts';
import { UsageError } from '../../../model/usage-error.ts';
import type { AddRequest } from '../../registration/command-line.ts';
import { packageCommand } from '../registration/package-command.ts';
import type { McpOption } from './options.ts';
import { registryTarget, type RegistryTarget } from './registry-target.ts';

/** A server to connect to, a folder with a manifest, or a command that starts one, here or in a container. */
export type McpTarget =
  | { kind: 'address'; url: URL; written: string }
  | { kind: 'plugin'; directory: string; args: readonly string[] }
  | ContainerTarget
  | { kind: 'package' | 'program'; command: string[] }
  | RegistryTarget;

export interface ContainerTarget {
  kind: 'container';
  container: string | undefined;
  image: string | undefined;
  command: string[];
}

const packageTypes = { npx: 'npm', uvx: 'pypi' } as const;

/** Which MCP server the operands of `toolcrib add` mean. */
export function mcpTarget({ given, operand, rest, serverIsHere }: AddRequest<McpOption>): McpTarget {
  const { written: first = '', address } = operand ?? {};
  const [version, container, image] = [given.text('version'), given.text('container'), given.text('image')];
  if (container !== undefined || image !== undefined) {
    if (container !== undefined && image !== undefined)
      throw new UsageError('Give --container (a running container) or --image (a new one), not both', { field: 'image' });
    if (first === '') throw new UsageError('The command to start inside the container is missing: write it after `--`');
    return { kind: 'container', container, image, command: [first, ...rest] };
  }
  const listed = registryTarget(first, version);
  if (listed !== undefined) {
    refuseMore(rest, 'a server of a registry');
    return listed;
  }
  if (address !== undefined) {
    refuseMore(rest, 'an address');
    return { kind: 'address', url: address, written: first };
  }
  if (first === 'npx' || first === 'uvx') return { kind: 'package', command: commandOf(first, rest, version) };
  if (/^@[\w.~-]+\/[\w.~-]+(@|$)/.test(first)) throw new UsageError(`${first} looks like a package: write \`toolcrib add npx ${first}\``);
  if (isFolder(first)) return { kind: 'plugin', directory: resolve(first), args: rest };
  if (serverIsHere) refuseMissing(first, given.text('cwd'));
  return { kind: 'program', command: [first, ...rest] };
}

function refuseMore([next]: readonly string[], where: string): void {
  if (next !== undefined) throw new UsageError(`${JSON.stringify(next)} is one argument too many after ${where}`);
}

/** A bare name is always a program, even if this folder contains a folder of that name. */
function isFolder(written: string): boolean {
  return /[\\/]|^\.\.?$/.test(written) && statSync(written, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A path that begins with ./ or ../ must exist on this machine. */
function refuseMissing(program: string, cwd = '.'): void {
  if (!/^\.{1,2}[\\/]/.test(program)) return;
  if (!existsSync(resolve(cwd, program))) throw new UsageError(`There is no file or folder ${JSON.stringify(program)} here`);
}

function commandOf(runner: 'npx' | 'uvx', written: readonly string[], version: string | undefined): string[] {
  // People copy `-y` from web pages; it is added again below.
  const own = runner === 'npx' && /^(-y|--yes)$/.test(written[0] ?? '') ? written.slice(1) : written;
  const [identifier, ...args] = own;
  if (identifier === undefined) throw new UsageError('<package> is missing');
  if (identifier.startsWith('-')) {
    // Options of npx or uvx itself, such as `uvx --from package program`: they name the package.
    if (version !== undefined) {
      const example = runner === 'npx' ? '-p name@1.2.3' : "--from 'name==1.2.3'";
      throw new UsageError(`--version is for a package alone: with options of ${runner}, write it after the package: ${example}`, {
        field: 'version',
      });
    }
    return [runner, ...(runner === 'npx' ? ['-y'] : []), ...own];
  }
  try {
    // The server decides which packages may run.
    return packageCommand({ type: packageTypes[runner], identifier, version }, { args, field: 'identifier', allowRisky: true });
  } catch (cause) {
    throw cause instanceof CribError ? new UsageError(cause.message, { field: cause.field, cause }) : cause;
  }
}

import { UsageError } from '../../../model/usage-error.ts';
import type { GivenOptions } from '../../registration/command-line.ts';
import { addressOptions, type AddressOption } from '../../registration/command-line/shared-options.ts';
import { containerOptions } from './container-fields.ts';
import type { McpOption } from './options.ts';
import type { McpTarget } from './target.ts';

const ofAddresses = Object.keys(addressOptions) as AddressOption[];

/** Options that mean nothing for a target of this kind, and why. */
const senseless: Record<McpTarget['kind'], { options: McpOption[]; why: string }> = {
  address: { options: ['version', 'lifecycle', 'standby', 'cwd'], why: 'is for servers that Toolcrib starts, not for an address' },
  plugin: { options: [...ofAddresses, 'version', 'cwd'], why: 'is not for a folder with a manifest' },
  package: { options: [...ofAddresses], why: 'is not for a package' },
  program: { options: [...ofAddresses, 'version'], why: 'is not for a program' },
  registry: { options: ['transport'], why: 'is not for a server from a registry, whose entry says it' },
  container: { options: [...ofAddresses, 'version', 'cwd', 'transport'], why: 'is not for a server inside a container' },
};

export function refuseSenseless(given: GivenOptions<McpOption>, { kind }: McpTarget): void {
  const { options, why } = senseless[kind];
  refuse(given, options, why);
  if (kind !== 'container') refuse(given, containerOptions, 'is for a server inside a container: --container or --image');
  if (kind !== 'plugin' && kind !== 'registry') refuse(given, ['setting'], 'is for a server from a registry, or a folder with a manifest');
}

function refuse(given: GivenOptions<McpOption>, options: readonly McpOption[], why: string): void {
  const option = options.find((one) => given.origin(one) !== undefined);
  if (option !== undefined) throw new UsageError(`--${option} ${why}`, { field: option });
}

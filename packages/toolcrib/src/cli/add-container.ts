import type { McpRegistrationInput } from '../sources/mcp/registration/forms.ts';
import type { AddOption } from './add-options.ts';
import type { AddTarget } from './add-target.ts';
import type { Given } from './given.ts';
import { UsageError } from './usage-error.ts';

type ContainerFields = NonNullable<McpRegistrationInput['mcp_container']>;

/** Options about how a container is made, and those about any. */
const making = ['memory', 'cpus', 'pids', 'network', 'mount', 'pull'] as const satisfies AddOption[];
export const containerOptions = [...making, 'user', 'workdir'] as const satisfies AddOption[];

/** [SRC-3] What the command line says of a server inside a container. */
export function containerFields(
  given: Given<AddOption>,
  { container, image, command }: Extract<AddTarget, { kind: 'container' }>,
  variables: Record<string, string>,
): ContainerFields {
  const useless = container === undefined ? undefined : making.find((option) => given.origin(option) !== undefined);
  if (useless !== undefined)
    throw new UsageError(`--${useless} has no effect on a container that runs already: it is for --image`, { field: useless });
  const amount = (option: 'memory' | 'cpus' | 'pids', least: number, most: number, whole: boolean) =>
    given.text(option) === undefined ? undefined : given.number(option, { least, most, whole });
  const limits = withoutUndefined({
    memory_mb: amount('memory', 16, 1_048_576, true),
    cpus: amount('cpus', 0.05, 512, false),
    pids: amount('pids', 32, 1_000_000, true),
  });
  const mounts = given.list('mount').map(mountOf);
  return {
    command,
    ...withoutUndefined({
      container,
      image,
      network: given.text('network'),
      pull: pullOf(given),
      user: given.text('user'),
      workdir: given.text('workdir'),
      limits: Object.keys(limits).length === 0 ? undefined : limits,
      mounts: mounts.length === 0 ? undefined : mounts,
      env: Object.keys(variables).length === 0 ? undefined : variables,
    }),
  };
}

const pulls = ['missing', 'always', 'never'] as const;

function pullOf(given: Given<AddOption>): ContainerFields['pull'] {
  const written = given.text('pull');
  const pull = pulls.find((one) => one === written);
  if (written !== undefined && pull === undefined)
    throw new UsageError(`--pull must be ${pulls.join(', ')}, not ${JSON.stringify(written)}`, { field: 'pull' });
  return pull;
}

function mountOf(written: string): { source: string; target: string; read_only: boolean } {
  const [, source, target, access = 'ro'] = /^([^:]+):(\/[^:]*)(?::(ro|rw))?$/.exec(written) ?? [];
  if (source === undefined || target === undefined)
    throw new UsageError(`--mount must be like /srv/files:/files, or /srv/files:/files:rw, not ${JSON.stringify(written)}`, {
      field: 'mount',
    });
  return { source, target, read_only: access === 'ro' };
}

function withoutUndefined<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

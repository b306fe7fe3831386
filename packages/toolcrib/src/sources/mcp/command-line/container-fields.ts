import { UsageError } from '../../../model/usage-error.ts';
import type { GivenOptions } from '../../registration/command-line.ts';
import { givenChoice } from '../../registration/command-line/given-choice.ts';
import type { McpRegistrationInput } from '../registration/forms.ts';
import type { McpOption } from './options.ts';
import type { ContainerTarget } from './target.ts';

type ContainerFields = NonNullable<McpRegistrationInput['mcp_container']>;

const pulls = ['missing', 'always', 'never'] as const;

/** Options that apply only when a container is created; `containerOptions` has those for every container too. */
const making = ['memory', 'cpus', 'pids', 'network', 'mount', 'pull'] as const satisfies McpOption[];
export const containerOptions = [...making, 'user', 'workdir'] as const satisfies McpOption[];

/** [SRC-3] The registration fields of a server inside a container, from the options of the command line. */
export function containerFields(
  given: GivenOptions<McpOption>,
  { container, image, command }: ContainerTarget,
  variables: Readonly<Record<string, string>>,
): ContainerFields {
  const useless = container === undefined ? undefined : making.find((option) => given.origin(option) !== undefined);
  if (useless !== undefined)
    throw new UsageError(`--${useless} has no effect on a running container: it is for --image`, { field: useless });
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
      pull: givenChoice(given, 'pull', pulls),
      user: given.text('user'),
      workdir: given.text('workdir'),
      limits: Object.keys(limits).length === 0 ? undefined : limits,
      mounts: mounts.length === 0 ? undefined : mounts,
      env: Object.keys(variables).length === 0 ? undefined : variables,
    }),
  };
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

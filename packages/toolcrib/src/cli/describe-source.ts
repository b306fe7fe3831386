import { z } from 'zod';
import { align } from './align.ts';
import { lineWidth, paint, printable } from './terminal.ts';
import { importOf, importSummary } from './describe-import.ts';
import { describeRegistry, registeredSchema } from './describe-registry.ts';
import { describeRetry } from './describe-retry.ts';
import type { ShownSource } from './source-client.ts';

const valuesSchema = z.record(z.string(), z.unknown()).catch({});
const containerSchema = z.looseObject({
  name: z.string().nullable().catch(null),
  image: z.string().nullable().catch(null),
  workdir: z.string().nullable().catch(null),
  user: z.string().nullable().catch(null),
  settings: z.looseObject({
    limits: z.looseObject({ memory_mb: z.number(), cpus: z.number(), pids: z.number() }),
    network: z.string(),
    read_only: z.boolean(),
    mounts: z.array(z.looseObject({ source: z.string(), target: z.string(), read_only: z.boolean() })),
  }),
});
const definitionSchema = z.looseObject({
  transport_type: z.string().catch(''),
  lifecycle_mode: z.string().catch(''),
  standby: z.number().catch(0),
  command: z.array(z.string()).catch([]),
  cwd: z.string().nullable().catch(null),
  container: containerSchema.nullable().catch(null),
  process_limits: z.record(z.string(), z.number()).catch({}),
  server_url: z.string().nullable().catch(null),
  document: z.record(z.string(), z.string()).catch({}),
  pinning: z.string().catch('off'),
  manual: z.string().optional().catch(undefined),
  looked_up: registeredSchema,
  environment: valuesSchema,
  headers: valuesSchema,
});

/** The source's definition, of which a newer server may have other parts. */
function definitionOf({ definition }: ShownSource) {
  return definition === null ? undefined : definitionSchema.parse(definition);
}

export function transportOf(source: ShownSource): string {
  return definitionOf(source)?.transport_type || source.source_type;
}

const colours: Record<string, 'green' | 'red' | 'yellow' | 'dim'> = {
  running: 'green',
  healthy: 'green',
  error: 'red',
  unhealthy: 'red',
  unauthenticated: 'red',
  starting: 'yellow',
  restarting: 'yellow',
  degraded: 'yellow',
};

/** A state or a health, in the colour that says whether somebody should look. `text` is what is coloured, where it is not the word alone. */
export function paintState(word: string, text: string): string {
  return paint(colours[word] ?? 'dim', text);
}

/** Everything about one source, for a person. */
export function describeSource(source: ShownSource): string {
  const { name, namespace, id, status, health, breaker, server } = source;
  const definition = definitionOf(source);
  const imported = importOf(source);
  const rows: [label: string, value: string | undefined][] = [
    ['Name', name],
    ['Namespace', namespace],
    ['Id', id],
    ['State', status.tools === undefined ? status.state : `${status.state}, ${countTools(status.tools)}`],
    [
      status.code === undefined ? 'Note' : 'Error',
      status.message === undefined ? undefined : status.message + (status.code === undefined ? '' : ` (${status.code})`),
    ],
    ['Retry', status.retry_at === undefined ? undefined : `by itself, ${describeRetry(status.retry_at)}`],
    [
      'Waiting',
      source.waiting === 0 ? undefined : `${countTools(source.waiting)} for approval: \`toolcrib sources differences ${namespace}\``,
    ],
    [
      'Secrets',
      source.outdated_secrets.length === 0
        ? undefined
        : `runs with the old ${source.outdated_secrets.join(', ')}: \`toolcrib sources restart ${namespace}\` brings the new value`,
    ],
    ['Health', health],
    ['Breaker', breaker === 'closed' ? undefined : breaker],
    ['Server', server === null ? undefined : `${server.name} ${server.version}`.trim()],
    ['Protocol', server?.protocol_version],
    ['Registry', definition?.looked_up == null ? undefined : describeRegistry(definition.looked_up)],
    ['Manual', definition?.manual],
    ['Transport', transportOf(source)],
    ['Lifecycle', lifecycleOf(definition)],
    ['Pinning', definition === undefined || definition.pinning === 'off' ? undefined : definition.pinning],
    ['Command', definition === undefined || definition.command.length === 0 ? undefined : commandLine(definition.command)],
    ['Folder', definition?.cwd ?? definition?.container?.workdir ?? undefined],
    ['Limits', limitsOf(definition)],
    ...containerRows(definition?.container ?? null),
    ['Document', documentOf(definition)],
    ['Import', imported === undefined ? undefined : importSummary(imported)],
    ['Address', definition?.server_url ?? imported?.servers.slice(0, 3).join(', ')],
    ...Object.entries(definition?.environment ?? {}).map(([name, value]): [string, string] => ['Variable', `${name}=${shownValue(value)}`]),
    ...Object.entries(definition?.headers ?? {}).map(([name, value]): [string, string] => ['Header', `${name}: ${shownValue(value)}`]),
  ];
  const given = rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, value]]));
  const painter = (text: string, column: number) => (column === 0 ? paint('bold', text) : text);
  // Not cut to the terminal: somebody who asks for one source wants all of it.
  return align(given, { paint: painter }).join('\n');
}

/** What a table of tools has: a name and what it does. */
export function toolTable(tools: readonly { name: string; description: string; state?: string }[], indent = 0): string {
  const rows = tools.map(({ name, description, state = 'active' }) => [
    name,
    state === 'active' ? description : `(${state}) ${description}`,
  ]);
  const painter = (text: string, column: number) => (column === 0 ? paint('bold', text) : text);
  return align(rows, { width: lineWidth(), indent, paint: painter }).join('\n');
}

export function countTools(count: number): string {
  return `${count === 0 ? 'no' : count} tool${count === 1 ? '' : 's'}`;
}

/** A command as a shell would read it. */
export function commandLine(command: readonly string[]): string {
  return command.map((word) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", "'\\''")}'`)).join(' ');
}

/** In which container it is started; how that is made says something only where it is made for it. */
function containerRows(container: z.infer<typeof containerSchema> | null): [label: string, value: string | undefined][] {
  if (container === null) return [];
  const { name, image, user, settings } = container;
  const { limits, network, read_only: readOnly, mounts } = settings;
  const bounds = `${limits.memory_mb} MiB, cpus ${limits.cpus}, ${limits.pids} processes, network ${network}`;
  return [
    ['Container', name ?? undefined],
    ['Image', image ?? undefined],
    ['Limits', image === null ? undefined : `${bounds}, its files can ${readOnly ? 'only be read' : 'be written'}`],
    ...mounts.map((mount): [string, string] => ['Mount', `${mount.source}:${mount.target}${mount.read_only ? '' : ':rw'}`]),
    ['User', user ?? undefined],
  ];
}

/** What it has asked for itself; the operator may have set narrower ones. */
function limitsOf(definition: z.infer<typeof definitionSchema> | undefined): string | undefined {
  const limits = Object.entries(definition?.process_limits ?? {}).map(([name, limit]) => `${name} ${limit}`);
  return limits.length === 0 ? undefined : limits.join(', ');
}

function documentOf(definition: z.infer<typeof definitionSchema> | undefined): string | undefined {
  const { url, file, stored } = definition?.document ?? {};
  return url ?? file ?? (stored === undefined ? undefined : `stored here (sha256 ${stored.slice(0, 12)}…)`);
}

function lifecycleOf(definition: z.infer<typeof definitionSchema> | undefined): string | undefined {
  if (definition === undefined || definition.command.length === 0) return undefined;
  return definition.standby === 0 ? definition.lifecycle_mode : `${definition.lifecycle_mode}, ${definition.standby} on standby`;
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '***';
  if ('value' in value) return String(value.value);
  return 'secret_ref' in value ? `the secret ${String(value.secret_ref)}` : '***';
}

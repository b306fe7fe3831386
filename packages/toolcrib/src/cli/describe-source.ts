import { z } from 'zod';
import { align } from '../text/align.ts';
import { lineWidth, paint } from './terminal.ts';
import type { ShownRow } from '../sources/registration/command-line.ts';
import { importOf, importSummary } from './describe-import.ts';
import { describeRetry } from './describe-retry.ts';
import { kindOf } from './kinds.ts';
import type { ShownSource } from './source-client.ts';
import { counted } from '../text/counted.ts';

const valuesSchema = z.record(z.string(), z.unknown()).catch({});
const definitionSchema = z.looseObject({
  transport_type: z.string().catch(''),
  server_url: z.string().nullable().catch(null),
  document: z.record(z.string(), z.string()).catch({}),
  pinning: z.string().catch('off'),
  environment: valuesSchema,
  headers: valuesSchema,
});

/** The fields that every definition has. A newer server may show others. */
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

/** Colours a state or health by whether somebody should look at it. `text` is the coloured text. */
export function paintState(word: string, text: string): string {
  return paint(colours[word] ?? 'dim', text);
}

/** Everything about one source, for a person. */
export function describeSource(source: ShownSource): string {
  const { name, namespace, id, status, health, breaker, server } = source;
  const definition = definitionOf(source);
  const imported = importOf(source);
  const kind = kindOf(source.source_type);
  const rows: ShownRow[] = [
    ['Name', name],
    ['Namespace', namespace],
    ['Id', id],
    ['State', status.tools === undefined ? status.state : `${status.state}, ${countTools(status.tools)}`],
    [
      status.code === undefined ? 'Note' : 'Error',
      status.message === undefined ? undefined : status.message + (status.code === undefined ? '' : ` (${status.code})`),
    ],
    ['Retry', status.retry_at === undefined ? undefined : `automatic, ${describeRetry(status.retry_at)}`],
    [
      'Waiting',
      source.waiting === 0 ? undefined : `${countTools(source.waiting)} for approval: \`toolcrib sources differences ${namespace}\``,
    ],
    [
      'Secrets',
      source.outdated_secrets.length === 0
        ? undefined
        : `runs with the old ${source.outdated_secrets.join(', ')}: \`toolcrib sources restart ${namespace}\` uses the new value`,
    ],
    ['Health', health],
    ['Breaker', breaker === 'closed' ? undefined : breaker],
    ['Server', server === null ? undefined : `${server.name} ${server.version}`.trim()],
    ['Protocol', server?.protocol_version],
    ['Transport', transportOf(source)],
    ['Pinning', definition === undefined || definition.pinning === 'off' ? undefined : definition.pinning],
    ...(kind?.describe?.(source.definition ?? {}) ?? []),
    ['Document', documentOf(definition)],
    ['Import', imported === undefined ? undefined : importSummary(kind, imported)],
    ['Address', definition?.server_url ?? imported?.servers.slice(0, 3).join(', ')],
    ...Object.entries(definition?.environment ?? {}).map(([name, value]): [string, string] => ['Variable', `${name}=${shownValue(value)}`]),
    ...Object.entries(definition?.headers ?? {}).map(([name, value]): [string, string] => ['Header', `${name}: ${shownValue(value)}`]),
  ];
  const given = rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, value]]));
  const painter = (text: string, column: number) => (column === 0 ? paint('bold', text) : text);
  // Not cut to the width of the terminal: whoever asks for one source wants all of it.
  return align(given, { paint: painter }).join('\n');
}

/** A table of tools: name and description. */
export function toolTable(tools: readonly { name: string; description: string; state?: string }[], indent = 0): string {
  const rows = tools.map(({ name, description, state = 'active' }) => [
    name,
    state === 'active' ? description : `(${state}) ${description}`,
  ]);
  const painter = (text: string, column: number) => (column === 0 ? paint('bold', text) : text);
  return align(rows, { width: lineWidth(), indent, paint: painter }).join('\n');
}

export function countTools(count: number): string {
  return count === 0 ? 'no tools' : counted(count, 'tool');
}

function documentOf(definition: z.infer<typeof definitionSchema> | undefined): string | undefined {
  const { url, file, stored } = definition?.document ?? {};
  return url ?? file ?? (stored === undefined ? undefined : `stored here (sha256 ${stored.slice(0, 12)}…)`);
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '***';
  if ('value' in value) return String(value.value);
  return 'secret_ref' in value ? `the secret ${String(value.secret_ref)}` : '***';
}

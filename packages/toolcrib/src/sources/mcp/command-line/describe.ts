import { shellCommand } from '../../../text/shell-command.ts';
import type { ShownDefinition, ShownRow } from '../../registration/command-line.ts';
import { describeRegistry, shownServerSchema, type ShownContainer, type ShownServer } from './shown-server.ts';

/** How an MCP server is started, and in which container. */
export function describeServer(definition: ShownDefinition): ShownRow[] {
  const server = shownServerSchema.parse(definition);
  const { command, container, cwd, looked_up: registered } = server;
  return [
    ['Registry', registered == null ? undefined : describeRegistry(registered)],
    ['Lifecycle', lifecycleOf(server)],
    ['Command', command.length === 0 ? undefined : shellCommand(command)],
    ['Folder', cwd ?? container?.workdir ?? undefined],
    ['Limits', limitsOf(server)],
    ...containerRows(container),
  ];
}

/** What a dry run says before it starts the server. */
export function describeServerPreview(definition: ShownDefinition, namespace: string): string[] {
  const { command, container, server_url: url, looked_up: registered } = shownServerSchema.parse(definition);
  const where = container === null ? '' : container.name === null ? ` in a container of ${container.image}` : ` in ${container.name}`;
  return [
    ...(registered == null ? [] : [`${describeRegistry(registered)} says what to start and which values it needs.`]),
    command.length === 0
      ? `${namespace} would be connected to at ${url ?? 'its address'}`
      : `${namespace} would be started with ${shellCommand(command)}${where}`,
  ];
}

/** How a missing value of a server is given. */
export function optionForValue(field: string, definition: ShownDefinition): string | undefined {
  const [place = '', ...rest] = field.split('.');
  const name = rest.at(-1) ?? field;
  if (/^(?:mcp_)?config$/.test(place)) return `--setting ${name}=…`;
  if (!/env_vars/.test(field)) return undefined;
  const isSecret = shownServerSchema.parse(definition).env_definitions.some((one) => one.name === name && one.secret);
  return isSecret ? `--secret ${name}` : `--env ${name}=…`;
}

/** The container in which a server is started. Limits are shown only if the container is created for the server. */
function containerRows(container: ShownContainer | null): ShownRow[] {
  if (container === null) return [];
  const { name, image, user, settings } = container;
  const { limits, network, read_only: readOnly, mounts } = settings;
  const bounds = `${limits.memory_mb} MiB, cpus ${limits.cpus}, ${limits.pids} processes, network ${network}`;
  return [
    ['Container', name ?? undefined],
    ['Image', image ?? undefined],
    ['Limits', image === null ? undefined : `${bounds}, its files can ${readOnly ? 'only be read' : 'be written'}`],
    ...mounts.map((mount): ShownRow => ['Mount', `${mount.source}:${mount.target}${mount.read_only ? '' : ':rw'}`]),
    ['User', user ?? undefined],
  ];
}

/** The limits it asks for; the operator may have set narrower ones. */
function limitsOf({ process_limits: limits }: ShownServer): string | undefined {
  const named = Object.entries(limits).map(([name, limit]) => `${name} ${limit}`);
  return named.length === 0 ? undefined : named.join(', ');
}

function lifecycleOf({ command, lifecycle_mode: mode, standby }: ShownServer): string | undefined {
  if (command.length === 0) return undefined;
  return standby === 0 ? mode : `${mode}, ${standby} on standby`;
}

import { z } from 'zod';
import { fromEditorVariables } from './editor-variables.ts';
import type { McpRegistrationInput } from './forms.ts';
import { importedTimeouts } from './imported-timeouts.ts';
import { isLegacySseAddress } from './legacy-sse-address.ts';
import { programName } from './program-name.ts';

const text = z.string().max(65_536);
const scalar = z.union([text, z.number(), z.boolean()]).transform(String);
const values = z.record(z.string().max(200), scalar.nullable()).optional();
const names = z.array(z.string().max(512)).max(10_000).optional();

const seconds = z.number().min(0).max(1_000_000);

/** One server in the file of a desktop client or an editor. Other fields, which some clients have, are reported in notes. */
const serverSchema = z.object({
  type: z.string().max(50).optional(),
  transport: z.union([z.string().max(50), z.object({ type: z.string().max(50) }).transform(({ type }) => type)]).optional(),
  command: z
    .union([text, z.array(text).min(1).max(400), z.object({ path: text, args: z.array(scalar).max(400).optional(), env: values })])
    .optional(),
  args: z.array(scalar).max(400).optional(),
  cwd: z.string().max(4096).nullish(),
  env: values,
  environment: values,
  envFile: z.unknown().optional(),
  url: text.optional(),
  serverUrl: text.optional(),
  httpUrl: text.optional(),
  headers: values,
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
  includeTools: names,
  excludeTools: names,
  enabledTools: names,
  enabled_tools: names,
  disabledTools: names,
  disabled_tools: names,
  timeout: z.number().min(0).max(86_400_000).nullish(),
  tool_timeout_sec: seconds.nullish(),
  startup_timeout_sec: seconds.nullish(),
});
type Server = z.infer<typeof serverSchema>;

/** [SRC-4] The registration of one server, with notes on unused fields. Throws an error that says what is wrong with the entry. */
export function importServer(
  name: string,
  entry: unknown,
  common: McpRegistrationInput = {},
): { form: McpRegistrationInput; notes: string[] } {
  const parsed = serverSchema.safeParse(entry);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error([issue?.path.join('.'), issue?.message].filter(Boolean).join(': '));
  }
  const server = parsed.data;
  if (server.envFile !== undefined && server.envFile !== null)
    throw new Error('envFile: Toolcrib does not read the file. Give the variables in env');
  const address = server.httpUrl ?? server.url ?? server.serverUrl;
  const notes = unusedFields(entry as object);
  if (address === undefined && common.credential !== undefined)
    notes.push('auth is only for servers over HTTP. It is not used for a local server');
  const include = server.includeTools ?? server.enabledTools ?? server.enabled_tools;
  const exclude = server.excludeTools ?? server.disabledTools ?? server.disabled_tools;
  const form: McpRegistrationInput = {
    ...common,
    name,
    source_type: 'mcp',
    enabled: server.enabled ?? server.disabled !== true,
    mcp_lifecycle_mode: 'singleton',
    ...(include === undefined && exclude === undefined ? {} : { tools: { include: include ?? [], exclude: exclude ?? [] } }),
    ...importedTimeouts(server, notes),
    ...(address === undefined ? localFields(server, common) : remoteFields(server, address)),
  };
  return { form, notes };
}

/** Fields that are only for people, or only for the client. */
const harmless = new Set(['name', 'title', 'description', 'icon', 'id', 'note', 'notes', '$schema', '_comment']);

const approvals = new Set(['autoApprove', 'alwaysAllow', 'trust', 'allowedTools', 'default_tools_approval_mode']);

/** Notes on the fields that are not used, so that nothing a client relies on is dropped silently. */
function unusedFields(entry: object): string[] {
  const unused = Object.entries(entry)
    .filter(([name, value]) => !Object.hasOwn(serverSchema.shape, name) && !harmless.has(name) && value !== null)
    .map(([name]) => name.slice(0, 100));
  const approving = unused.filter((name) => approvals.has(name));
  const others = unused.filter((name) => !approvals.has(name)).slice(0, 20);
  return [
    ...(approving.length === 0 ? [] : [`${approving.join(', ')}: not used. Policies decide who may use which tool`]),
    ...(others.length === 0 ? [] : [`Not used: ${others.join(', ')}`]),
  ];
}

function remoteFields(server: Server, address: string): McpRegistrationInput {
  if (server.command !== undefined) throw new Error('The entry has both a command and an address. Take one of them out');
  const transport = transportOf(server) ?? (isLegacySseAddress(address) ? 'sse' : 'streamable_http');
  if (transport === 'stdio') throw new Error('The entry has an address, but its transport is stdio. Use http or sse');
  const headers = cleanValues(server.headers);
  const variables = cleanValues({ ...server.env, ...server.environment });
  return {
    mcp_server_url: fromEditorVariables(address),
    mcp_transport_type: transport,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(variables).length === 0 ? {} : { mcp_env_vars: variables }),
  };
}

function localFields(server: Server, common: McpRegistrationInput): McpRegistrationInput {
  const { command } = server;
  if (command === undefined) throw new Error('The entry has neither a command nor an address. Give it one of them');
  const transport = transportOf(server);
  if (transport !== undefined && transport !== 'stdio')
    throw new Error('The entry has a command, but its transport is HTTP. Give the url, or use stdio');
  const own = typeof command === 'string' ? [command] : Array.isArray(command) ? command : [command.path, ...(command.args ?? [])];
  const nested = typeof command === 'object' && !Array.isArray(command) ? command.env : undefined;
  const variables = cleanValues({ ...nested, ...server.env, ...server.environment });
  const whole = [...own, ...(server.args ?? [])].map(fromEditorVariables);
  return {
    // The `auth` of a template is only for servers over HTTP.
    ...(common.credential === undefined ? {} : { credential: undefined }),
    mcp_command: withYes(withoutWindowsShell(whole)),
    mcp_transport_type: 'stdio',
    ...(server.cwd == null || server.cwd === '' ? {} : { mcp_cwd: fromEditorVariables(server.cwd) }),
    ...(Object.keys(variables).length === 0 ? {} : { mcp_env_vars: variables }),
  };
}

const transports: Record<string, 'stdio' | 'sse' | 'streamable_http'> = {
  stdio: 'stdio',
  local: 'stdio',
  sse: 'sse',
  http: 'streamable_http',
  remote: 'streamable_http',
  streamablehttp: 'streamable_http',
};

function transportOf({ type, transport }: Server): 'stdio' | 'sse' | 'streamable_http' | undefined {
  const said = type ?? transport;
  if (said === undefined) return undefined;
  const plain = said.toLowerCase().replaceAll(/[^a-z]/g, '');
  if (!Object.hasOwn(transports, plain)) throw new Error(`${JSON.stringify(said)} is not a transport: use stdio, http or sse`);
  return transports[plain];
}

function cleanValues(given: Record<string, string | null> | undefined): Record<string, string> {
  const clean = Object.entries(given ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name, fromEditorVariables(value)] as const],
  );
  return Object.fromEntries(clean);
}

/** `npx` asks before it fetches a package, and nobody is there to answer. */
function withYes(command: string[]): string[] {
  const [program = '', ...rest] = command;
  if (programName(program) !== 'npx') return command;
  const package_ = rest.findIndex((argument) => !argument.startsWith('-'));
  const options = package_ < 0 ? rest : rest.slice(0, package_);
  return options.some((option) => /^(?:-y|--yes|--no|--no-install|--offline)$/.test(option)) ? command : [program, '-y', ...rest];
}

/** Windows starts a script with `cmd /c npx …`: only the part after `cmd /c` is kept. */
function withoutWindowsShell(command: string[]): string[] {
  const [program = '', flag = '', ...rest] = command;
  return programName(program) === 'cmd' && flag.toLowerCase() === '/c' && rest.length > 0 ? rest : command;
}

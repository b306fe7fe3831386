import { z } from 'zod';
import { fromEditorVariables } from './editor-variables.ts';
import { mcpRegistrationSchema, type McpRegistrationInput } from './forms.ts';
import { isLegacySseAddress } from './legacy-sse-address.ts';
import { programName } from './program-name.ts';

const text = z.string().max(65_536);
const scalar = z.union([text, z.number(), z.boolean()]).transform(String);
const values = z.record(z.string().max(200), scalar.nullable()).optional();
const names = z.array(z.string().max(512)).max(10_000).optional();

/** One server in the file of a desktop client or an editor. Each client has fields of its own beside these; they mean nothing here. */
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
});
type Server = z.infer<typeof serverSchema>;

/** [SRC-4] The registration of one server. Throws an error whose message says what is wrong with the entry. */
export function importServer(name: string, entry: unknown, common: McpRegistrationInput = {}): McpRegistrationInput {
  const parsed = serverSchema.safeParse(entry);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error([issue?.path.join('.'), issue?.message].filter(Boolean).join(': '));
  }
  const server = parsed.data;
  if (server.envFile !== undefined && server.envFile !== null)
    throw new Error('envFile: files are not read from here: give the variables in env');
  const address = server.httpUrl ?? server.url ?? server.serverUrl;
  const form: McpRegistrationInput = {
    ...common,
    name,
    source_type: 'mcp',
    enabled: server.enabled ?? server.disabled !== true,
    mcp_lifecycle_mode: 'singleton',
    ...(server.includeTools === undefined && server.excludeTools === undefined
      ? {}
      : { tools: { include: server.includeTools ?? [], exclude: server.excludeTools ?? [] } }),
    ...(address === undefined ? localFields(server, common) : remoteFields(server, address, common)),
  };
  const checked = mcpRegistrationSchema.safeParse(form);
  if (checked.success) return form;
  const [issue] = checked.error.issues;
  throw new Error([issue?.path.join('.'), issue?.message].filter(Boolean).join(': '));
}

function remoteFields(server: Server, address: string, common: McpRegistrationInput): McpRegistrationInput {
  if (server.command !== undefined) throw new Error('It has a command and an address: only one of them can be meant');
  const transport = transportOf(server) ?? (isLegacySseAddress(address) ? 'sse' : 'streamable_http');
  if (transport === 'stdio') throw new Error('It has an address, and says that it is spoken to over stdio');
  const headers = { ...common.headers, ...cleanValues(server.headers) };
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
  if (command === undefined) throw new Error('It has neither a command nor an address');
  const transport = transportOf(server);
  if (transport !== undefined && transport !== 'stdio')
    throw new Error('It has a command, and says that it is spoken to over HTTP: give its url');
  const own = typeof command === 'string' ? [command] : Array.isArray(command) ? command : [command.path, ...(command.args ?? [])];
  const nested = typeof command === 'object' && !Array.isArray(command) ? command.env : undefined;
  const variables = cleanValues({ ...nested, ...server.env, ...server.environment });
  const whole = [...own, ...(server.args ?? [])].map(fromEditorVariables);
  return {
    // What an auth of the template says is for servers that are spoken to over HTTP.
    ...(common.credential === undefined ? {} : { credential: undefined }),
    ...(common.headers === undefined ? {} : { headers: undefined }),
    mcp_command: withoutWindowsShell(whole),
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
  if (!Object.hasOwn(transports, plain)) throw new Error(`${JSON.stringify(said)} is no transport: use stdio, http or sse`);
  return transports[plain];
}

function cleanValues(given: Record<string, string | null> | undefined): Record<string, string> {
  const clean = Object.entries(given ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name, fromEditorVariables(value)] as const],
  );
  return Object.fromEntries(clean);
}

/** `cmd /c npx …` is how Windows starts a script; what it starts is what is meant. */
function withoutWindowsShell(command: string[]): string[] {
  const [program = '', flag = '', ...rest] = command;
  return programName(program) === 'cmd' && flag.toLowerCase() === '/c' && rest.length > 0 ? rest : command;
}

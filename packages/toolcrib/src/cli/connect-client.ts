import { homedir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'smol-toml';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import { UsageError } from '../model/usage-error.ts';
import { align } from '../text/align.ts';
import { agreed, refuseUnasked } from './agreed.ts';
import { jsonOption, urlOption } from './client-options.ts';
import { readClientFile, replaceClientFile } from './clients/client-file.ts';
import { insertJson, jsonEntries } from './clients/insert-json.ts';
import { insertToml, tomlEntries } from './clients/insert-toml.ts';
import { mcpClients, type ClientPlace, type McpClient, type ServerEntry } from './clients/mcp-clients.ts';
import { defineCommand } from './command.ts';
import { changedLines } from './describe-difference.ts';
import type { Given } from './given.ts';
import { print, printJson, remark } from './terminal.ts';

const options = {
  ...urlOption,
  address: { value: 'url', help: 'The address of the door, in place of --url, --group and --mode' },
  group: { value: 'id', help: 'The group whose tools the client gets; by default all of its user' },
  mode: { value: 'mode', help: '`search` for the three finding tools in place of a list' },
  name: { value: 'name', help: 'What the client calls the server; by default toolcrib, or the group' },
  'token-env': { value: 'name', help: 'The environment variable with the token, for a client that shall not log in' },
  write: { help: "Merges it into the client's file, after showing the difference" },
  yes: { help: 'Does not ask' },
  ...jsonOption,
} as const;

/** Configures an MCP client for an address of the door. */
export const connectClient = defineCommand({
  operands: '[client]',
  operandCount: [0, 1],
  options,
  notes: [
    'Without a client it lists those that are known. Without --write it prints what belongs into the file of the client.',
    'No token is ever written. Most clients log in; the others read the token from an environment variable.',
  ],
  examples: [
    'toolcrib connect-client',
    'toolcrib connect-client cursor --group kitchen',
    'toolcrib connect-client codex --address https://crib.example.org/mcp --write',
  ],
  async run(given) {
    const [wanted] = given.operands;
    if (wanted === undefined) {
      list(given.on('json'));
      return 0;
    }
    const client = Object.hasOwn(mcpClients, wanted) ? mcpClients[wanted] : undefined;
    if (client === undefined) throw new UsageError(`There is no client ${wanted}: use one of ${Object.keys(mcpClients).join(', ')}`);
    const server = serverFrom(given, wanted);
    const place: ClientPlace = { home: homedir(), platform: process.platform, environment: process.env };
    if (given.on('write')) return write(client, server, place, given.on('yes'));
    show(client, server, place, given.on('json'));
    return 0;
  },
});

type Option = keyof typeof options;

function serverFrom(given: Given<Option>, client: string): ServerEntry {
  const group = given.text('group');
  const address = addressFrom(given, group);
  const name = given.text('name') ?? (group === undefined ? 'toolcrib' : `toolcrib-${group}`);
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name))
    throw new UsageError('--name must have letters, digits, _ and - only, and 64 at most', { field: 'name' });
  const tokenVariable = given.text('token-env');
  if (tokenVariable !== undefined && !/^[A-Za-z_]\w{0,127}$/.test(tokenVariable))
    throw new UsageError('--token-env must be the name of an environment variable, and never a token', { field: 'token-env' });
  if (tokenVariable !== undefined && client === 'vscode')
    throw new UsageError('VS Code logs in by itself: leave --token-env out', { field: 'token-env' });
  return { name, address, tokenVariable };
}

function addressFrom(given: Given<Option>, group: string | undefined): string {
  const mode = given.text('mode');
  const whole = given.text('address');
  if (whole !== undefined && (group !== undefined || mode !== undefined))
    throw new UsageError('--address says everything: leave --group and --mode out', { field: 'address' });
  if (mode !== undefined && mode !== 'search' && mode !== 'list') throw new UsageError('--mode must be search or list', { field: 'mode' });
  if (group !== undefined && !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(group))
    throw new UsageError('--group must be the id of a group', { field: 'group' });
  const path = `/mcp${group === undefined ? '' : `/${group}`}${mode === 'search' ? '?mode=search' : ''}`;
  const text = whole ?? `${given.required('url').replace(/\/+$/, '')}${path}`;
  const url = URL.parse(text);
  const field = whole === undefined ? 'url' : 'address';
  // Characters that have a meaning in a shell or in code would reach those who copy what is printed.
  if (url === null || !/^https?:\/\/[\w.~:/?#[\]@!&()*+,;=%-]+$/.test(text) || url.username || url.password || url.hash)
    throw new UsageError(`--${field} must be an address such as https://crib.example.org/mcp`, { field });
  return text;
}

function list(asJson: boolean): void {
  const clients = Object.entries(mcpClients).map(([name, { title, file, logsIn }]) => ({
    name,
    title,
    writes: file !== undefined,
    logs_in: logsIn,
  }));
  if (asJson) return printJson({ clients });
  const how = ({ writes, logs_in: logsIn }: (typeof clients)[number]) =>
    `${writes ? 'file, --write' : 'by hand'}, ${logsIn ? 'logs in' : 'is given a token'}`;
  print(align(clients.map((client) => [client.name, client.title, how(client)])).join('\n'));
}

function show(client: McpClient, server: ServerEntry, place: ClientPlace, asJson: boolean): void {
  const { file } = client;
  const path = file?.path(place) ?? null;
  const content = file === undefined ? null : textOf(file.format, file.table, server.name, file.entry(server));
  const steps = client.steps(server);
  if (asJson) return printJson({ client: client.title, address: server.address, file: path, content, steps });
  if (path !== null && content !== null) {
    remark(`${client.title}, in ${path}:`);
    print(content);
    for (const step of steps) remark(step);
  } else {
    remark(`${client.title}:`);
    print(steps.join('\n'));
  }
}

function textOf(format: 'json' | 'toml', table: string, name: string, entry: JsonObject): string {
  const content = { [table]: { [name]: entry } };
  return format === 'json' ? JSON.stringify(content, null, 2) : stringify(content).trim();
}

async function write({ title, file, steps }: McpClient, server: ServerEntry, place: ClientPlace, isAgreed: boolean): Promise<number> {
  if (file === undefined) throw new UsageError(`${title} has no file to write to: leave --write out, and it says what to do`);
  const { table, format } = file;
  const path = file.path(place);
  const found = await readClientFile(path);
  const { text = '' } = found;
  const entry = file.entry(server);
  const existing = about(path, () => (format === 'json' ? jsonEntries : tomlEntries)(text, table));
  if (Object.hasOwn(existing, server.name)) {
    if (isDeepStrictEqual({ ...(existing[server.name] as JsonObject) }, entry)) {
      remark(`${path} has it already.`);
      return 0;
    }
    throw new CribError('CONFLICT', `${path} has another server with the name ${server.name}: remove it, or choose another --name`);
  }
  const changed = about(path, () => (format === 'json' ? insertJson : insertToml)(text, { table, name: server.name, entry }));
  print([path, ...changedLines(text, changed)].join('\n'));
  if (!isAgreed) {
    refuseUnasked('write');
    if (!(await agreed('Write it? [y/N] '))) return 1;
  }
  const backup = await replaceClientFile(found, changed);
  remark(backup === undefined ? 'Written.' : `Written. The old file is ${backup}.`);
  for (const step of steps(server)) remark(step);
  return 0;
}

function about<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof CribError)) throw cause;
    throw new CribError(cause.code, `${path}: ${cause.message}`, { cause });
  }
}

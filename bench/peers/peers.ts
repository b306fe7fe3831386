import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postBytes } from '../post-bytes.ts';
import type { ServerProgram } from '../server-process.ts';
import { openMcpEndpoint, type McpHeaders } from './mcp-endpoint.ts';

/** The MCP server that stands behind a gateway: a command to start, or an address. */
export type Upstream = { kind: 'stdio'; command: string[] } | { kind: 'http'; url: string };

export interface Peer {
  name: string;
  /** The name under which `install.sh` records it, and the path of its program. */
  key: string;
  file: string;
  /** Why it cannot be used with such a server, if so. */
  unfit?: Partial<Record<Upstream['kind'], string>>;
  /** How to start it with an upstream, in its own `directory`. */
  launch(program: string, upstream: Upstream, directory: string): ServerProgram;
  /** One call that is answered with `text`, in the cheapest form it accepts. */
  calls(port: number): Promise<EchoCall>;
}

/** The bytes of a call; each has a different `id`. */
export type EchoCall = (text: string, id: number) => string;

const neverMet = 'nobody could install it when this was written, so how it is spoken to is not known here';

export const rustProxy = 'mcp-proxy (Rust)';

/** Docker's gateway wants a token, and makes one up where it is given none. */
const dockerToken = 'bench';
const dockerHeaders = { authorization: `Bearer ${dockerToken}` };

/** Logging of single calls is off if it can be turned off; everything else is the default. */
export const peers: readonly Peer[] = [
  {
    name: 'mcpo',
    key: 'mcpo',
    file: 'mcpo/bin/mcpo',
    launch(program, upstream) {
      const behind = upstream.kind === 'stdio' ? ['--', ...upstream.command] : ['--server-type', 'streamable-http', '--', upstream.url];
      const args = (port: number) => ['--host', '127.0.0.1', '--port', String(port), '--log-level', 'WARNING', ...behind];
      return { program, args, isReady: (port) => echoes(port, '/echo', { text: 'ready?' }) };
    },
    calls: async () => (text) => postBytes('/echo', { text }),
  },
  {
    name: 'mcp-hub',
    key: 'mcp-hub',
    file: 'mcp-hub/node_modules/mcp-hub/dist/cli.js',
    launch(program, upstream, directory) {
      const config = writeConfig(directory, { mcpServers: { echo: serverEntry(upstream) } });
      // It stores its log and state in these.
      const env = { HOME: directory, XDG_STATE_HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
      const args = (port: number) => [program, '--port', String(port), '--config', config];
      return { args, env, isReady: (port) => echoes(port, '/api/servers/tools', hubCall('ready?')) };
    },
    calls: async () => (text) => postBytes('/api/servers/tools', hubCall(text)),
  },
  {
    name: 'supergateway',
    key: 'supergateway',
    file: 'supergateway/node_modules/supergateway/dist/index.js',
    unfit: { http: 'it offers a remote server to clients over stdio only' },
    launch(program, upstream) {
      const command = upstream.kind === 'stdio' ? upstream.command.join(' ') : '';
      // Without `--stateful` it starts a new server for every request.
      const options = ['--outputTransport', 'streamableHttp', '--stateful', '--logLevel', 'none'];
      return {
        args: (port) => [program, '--stdio', command, '--port', String(port), ...options],
        isReady: async (port) => (await openMcpEndpoint(`http://127.0.0.1:${port}/mcp`)) !== undefined,
      };
    },
    calls: (port) => mcpCalls(port, '/mcp'),
  },
  {
    name: 'TBXark/mcp-proxy',
    key: 'tbxark',
    file: 'tbxark/bin/mcp-proxy',
    launch(program, upstream, directory) {
      const config = (port: number) => {
        const address = `127.0.0.1:${port}`;
        const own = { baseURL: `http://${address}`, addr: address, name: 'bench', version: '1.0.0', type: 'streamable-http' };
        return { mcpProxy: { ...own, options: { logEnabled: false } }, mcpServers: { echo: serverEntry(upstream) } };
      };
      return {
        program,
        args: (port) => ['-config', writeConfig(directory, config(port))],
        isReady: async (port) => (await openMcpEndpoint(`http://127.0.0.1:${port}/echo/mcp`)) !== undefined,
      };
    },
    calls: (port) => mcpCalls(port, '/echo/mcp'),
  },
  {
    name: rustProxy,
    key: 'rust-mcp-proxy',
    file: 'rust-mcp-proxy/bin/mcp-proxy',
    launch(program, upstream, directory) {
      const url = (port: number) => `http://127.0.0.1:${port}/`;
      return {
        program,
        args: (port) => ['--config', writeFile(directory, 'proxy.toml', rustConfig(port, upstream))],
        isReady: async (port) => (await openMcpEndpoint(url(port))) !== undefined,
      };
    },
    calls: (port) => mcpCalls(port, '/', { tool: 'echo/echo' }),
  },
  {
    name: "Docker's mcp-gateway",
    key: 'docker',
    file: 'docker/bin/docker-mcp',
    unfit: { stdio: 'it starts servers in containers only' },
    launch(program, upstream, directory) {
      const url = upstream.kind === 'http' ? upstream.url : '';
      const echo = { title: 'echo', type: 'remote', remote: { url, transport_type: 'streamable-http' } };
      // JSON is YAML too.
      const catalog = writeFile(directory, 'catalog.yaml', JSON.stringify({ name: 'bench', displayName: 'bench', registry: { echo } }));
      const off = ['--log-calls=false', '--block-secrets=false', '--watch=false'];
      return {
        program,
        args: (port) => [
          'gateway',
          'run',
          '--transport',
          'streaming',
          '--port',
          String(port),
          '--catalog',
          catalog,
          '--servers',
          'echo',
          ...off,
        ],
        env: { HOME: directory, MCP_GATEWAY_AUTH_TOKEN: dockerToken },
        isReady: async (port) => (await openMcpEndpoint(`http://127.0.0.1:${port}/mcp`, dockerHeaders)) !== undefined,
      };
    },
    calls: (port) => mcpCalls(port, '/mcp', { own: dockerHeaders }),
  },
  {
    name: '@samanhappy/mcphub',
    key: 'mcphub',
    file: 'mcphub/node_modules/@samanhappy/mcphub/bin/cli.js',
    unfit: { stdio: neverMet, http: neverMet },
    launch: () => ({ args: () => [] }),
    calls: (port) => mcpCalls(port, '/mcp'),
  },
];

function hubCall(text: string): object {
  return { server_name: 'echo', tool: 'echo', arguments: { text } };
}

/** How the configuration files of MCP clients name a server. */
function serverEntry(upstream: Upstream): object {
  if (upstream.kind === 'http') return { url: upstream.url, transportType: 'streamable-http' };
  const [command, ...args] = upstream.command;
  return { command, args };
}

function rustConfig(port: number, upstream: Upstream): string {
  const behind =
    upstream.kind === 'http'
      ? `transport = "http"\nurl = ${JSON.stringify(upstream.url)}`
      : `transport = "stdio"\ncommand = ${JSON.stringify(upstream.command[0])}\nargs = ${JSON.stringify(upstream.command.slice(1))}`;
  return `
[proxy]
name = "bench"
[proxy.listen]
host = "127.0.0.1"
port = ${port}
[observability]
audit = false
log_level = "error"
[[backends]]
name = "echo"
${behind}
`;
}

function writeConfig(directory: string, config: object): string {
  return writeFile(directory, 'config.json', JSON.stringify(config));
}

function writeFile(directory: string, name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

async function mcpCalls(
  port: number,
  path: string,
  { tool = 'echo', own = {} }: { tool?: string; own?: McpHeaders } = {},
): Promise<EchoCall> {
  const headers = await openMcpEndpoint(`http://127.0.0.1:${port}${path}`, own);
  return (text, id) => postBytes(path, { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: { text } } }, headers);
}

/** Whether a call over REST returns the text it was given. */
async function echoes(port: number, path: string, body: object): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.text()).includes('ready?') && response.ok;
  } catch {
    return false;
  }
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postBytes } from '../post-bytes.ts';
import type { ServerProgram } from '../server-process.ts';
import { openMcpEndpoint } from './mcp-endpoint.ts';

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

function writeConfig(directory: string, config: object): string {
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function mcpCalls(port: number, path: string): Promise<EchoCall> {
  const headers = await openMcpEndpoint(`http://127.0.0.1:${port}${path}`);
  return (text, id) =>
    postBytes(path, { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo', arguments: { text } } }, headers);
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

import { join } from 'node:path';
import type { JsonObject } from '../../model/json.ts';

/** Whose machine it is, as far as the places of files depend on it. */
export interface ClientPlace {
  home: string;
  platform: NodeJS.Platform;
  environment: Readonly<Record<string, string | undefined>>;
}

/** The server as a client shall know it. */
export interface ServerEntry {
  name: string;
  address: string;
  /** The environment variable with the token, for clients that shall not log in. */
  tokenVariable: string | undefined;
}

interface ClientFile {
  format: 'json' | 'toml';
  path(place: ClientPlace): string;
  /** The table that has the servers by name. */
  table: string;
  entry(server: ServerEntry): JsonObject;
}

export interface McpClient {
  title: string;
  /** Absent where it is configured in its own windows, or in a program. */
  file?: ClientFile;
  /** What to do by hand. */
  steps(server: ServerEntry): string[];
  /** Whether it gets its tokens by itself. */
  logsIn: boolean;
}

const bearer = (reference: string) => ({ headers: { Authorization: `Bearer ${reference}` } });

/** How each client is told of a server, as its own documentation says in November 2026. */
export const mcpClients: Readonly<Record<string, McpClient>> = {
  'claude-code': {
    title: 'Claude Code',
    logsIn: true,
    file: {
      format: 'json',
      path: ({ home }) => join(home, '.claude.json'),
      table: 'mcpServers',
      entry: ({ address, tokenVariable }) => ({
        type: 'http',
        url: address,
        ...(tokenVariable !== undefined && bearer(`\${${tokenVariable}}`)),
      }),
    },
    steps: ({ name, address, tokenVariable }) => [
      ...(tokenVariable === undefined ? [`Or: claude mcp add --scope user --transport http ${name} '${address}'`] : []),
      'Then /mcp in Claude Code logs in, and shows the tools.',
    ],
  },
  'claude-desktop': {
    title: 'Claude Desktop and claude.ai',
    logsIn: true,
    steps: ({ name, address }) => [
      'Settings → Connectors → Add custom connector',
      `Name: ${name}`,
      `Remote MCP server URL: ${address}`,
      'It connects from the cloud, so the address must be public and https.',
    ],
  },
  cursor: {
    title: 'Cursor',
    logsIn: true,
    file: {
      format: 'json',
      path: ({ home }) => join(home, '.cursor', 'mcp.json'),
      table: 'mcpServers',
      entry: ({ address, tokenVariable }) => ({ url: address, ...(tokenVariable !== undefined && bearer(`\${env:${tokenVariable}}`)) }),
    },
    steps: () => ['Then Settings → MCP shows it, with a button to log in.'],
  },
  vscode: {
    title: 'VS Code',
    logsIn: true,
    file: {
      format: 'json',
      path: vscodeFile,
      table: 'servers',
      entry: ({ address }) => ({ type: 'http', url: address }),
    },
    steps: () => ['Then start the server in mcp.json or with MCP: List Servers; VS Code opens the browser to log in.'],
  },
  codex: {
    title: 'Codex CLI',
    logsIn: true,
    file: {
      format: 'toml',
      path: ({ home, environment }) => join(environment['CODEX_HOME'] || join(home, '.codex'), 'config.toml'),
      table: 'mcp_servers',
      entry: ({ address, tokenVariable }) => ({
        url: address,
        ...(tokenVariable !== undefined && { bearer_token_env_var: tokenVariable }),
      }),
    },
    steps: ({ name, tokenVariable }) => (tokenVariable === undefined ? [`Then: codex mcp login ${name}`] : []),
  },
  gemini: {
    title: 'Gemini CLI',
    logsIn: true,
    file: {
      format: 'json',
      path: ({ home }) => join(home, '.gemini', 'settings.json'),
      table: 'mcpServers',
      entry: ({ address, tokenVariable }) => ({
        httpUrl: address,
        ...(tokenVariable !== undefined && bearer(`\${${tokenVariable}}`)),
      }),
    },
    steps: ({ name, tokenVariable }) => (tokenVariable === undefined ? [`Then: /mcp auth ${name}`] : []),
  },
  windsurf: {
    title: 'Windsurf',
    logsIn: true,
    file: {
      format: 'json',
      path: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
      table: 'mcpServers',
      entry: ({ address, tokenVariable }) => ({
        serverUrl: address,
        ...(tokenVariable !== undefined && bearer(`\${env:${tokenVariable}}`)),
      }),
    },
    steps: () => ['Then refresh the list of servers in the MCP panel.'],
  },
  chatgpt: {
    title: 'ChatGPT',
    logsIn: true,
    steps: ({ name, address }) => [
      'Settings → Connectors → Create (in developer mode)',
      `Name: ${name}`,
      `MCP server URL: ${address}`,
      'Authentication: OAuth',
      'It connects from the cloud, so the address must be public and https.',
    ],
  },
  'openai-agents': {
    title: 'OpenAI Agents SDK (Python)',
    logsIn: false,
    steps: ({ name, address, tokenVariable = defaultVariable }) => [
      'import os',
      'from agents import Agent',
      'from agents.mcp import MCPServerStreamableHttp',
      '',
      `headers = {"Authorization": f"Bearer {os.environ['${tokenVariable}']}"}  # of the user for whom the agent works`,
      `async with MCPServerStreamableHttp(name="${name}", params={"url": "${address}", "headers": headers}) as server:`,
      '    agent = Agent(name="Assistant", mcp_servers=[server])',
    ],
  },
  langchain: {
    title: 'LangChain (langchain-mcp-adapters)',
    logsIn: false,
    steps: ({ name, address, tokenVariable = defaultVariable }) => [
      'import os',
      'from langchain_mcp_adapters.client import MultiServerMCPClient',
      '',
      `headers = {"Authorization": f"Bearer {os.environ['${tokenVariable}']}"}  # of the user for whom the agent works`,
      `client = MultiServerMCPClient({"${name}": {"transport": "streamable_http", "url": "${address}", "headers": headers}})`,
      'tools = await client.get_tools()',
    ],
  },
};

const defaultVariable = 'TOOLCRIB_TOKEN';

function vscodeFile({ home, platform, environment }: ClientPlace): string {
  const folders = {
    darwin: join(home, 'Library', 'Application Support'),
    win32: environment['APPDATA'] || join(home, 'AppData', 'Roaming'),
    linux: environment['XDG_CONFIG_HOME'] || join(home, '.config'),
  };
  const folder = platform === 'darwin' || platform === 'win32' ? folders[platform] : folders.linux;
  return join(folder, 'Code', 'User', 'mcp.json');
}

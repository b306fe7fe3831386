import type { clientPrograms } from './client-programs.ts';
import type { ClientHome } from './client-home.ts';

/** The server inside Codex that its editor extensions talk to: it connects to MCP servers and calls their tools without an account. */
export async function startCodexAppServer(
  home: ClientHome,
  codex: ReturnType<typeof clientPrograms>['codex'],
  env: Record<string, string>,
) {
  const client = home.start([...codex, 'app-server'], { env });
  let asked = 0;

  async function request<Result>(method: string, params: object): Promise<Result> {
    const id = ++asked;
    client.write(`${JSON.stringify({ id, method, params })}\n`);
    const [line] = await client.printedMatch(new RegExp(`^\\{"id":${id},.*\\}$`, 'm'));
    const { result, error } = JSON.parse(line) as { result?: Result; error?: { message: string } };
    if (result === undefined) throw new Error(`Codex refuses ${method}: ${error?.message}`);
    return result;
  }

  await request('initialize', { clientInfo: { name: 'toolcrib-tests', version: '1.0.0' }, capabilities: { experimentalApi: true } });
  client.write('{"method":"initialized"}\n');
  return {
    /** The MCP servers it knows, after connecting to each. */
    servers: () => request<{ data: { name: string; authStatus: string; tools: Record<string, object> }[] }>('mcpServerStatus/list', {}),
    async callTool(server: string, tool: string, args: object): Promise<unknown> {
      const { thread } = await request<{ thread: { id: string } }>('thread/start', {});
      return request('mcpServer/tool/call', { threadId: thread.id, server, tool, arguments: args });
    },
  };
}

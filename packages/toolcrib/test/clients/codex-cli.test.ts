import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { part } from '../parts.ts';
import { openClientHome, type ClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { startCodexAppServer } from './codex-app-server.ts';
import { startDoorWithEverything } from './recorded-door.ts';

const clients = part('mcp-clients');
const { codex } = clientPrograms(clients);

describe.skipIf(!clients.available)('Codex CLI with a token in its environment', () => {
  let door: Awaited<ReturnType<typeof startDoorWithEverything>>;
  let home: ClientHome;
  let env: Record<string, string>;
  beforeAll(async () => {
    [door, home] = await Promise.all([startDoorWithEverything(), openClientHome()]);
    env = { DOOR_TOKEN: door.token };
    await home.run([...codex, 'mcp', 'add', 'door', '--url', `${door.url}/mcp`, '--bearer-token-env-var', 'DOOR_TOKEN'], { env });
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await door[Symbol.asyncDispose]();
  });

  test('lists the server with its token, without connecting to it', async () => {
    const [listed] = JSON.parse((await home.run([...codex, 'mcp', 'list', '--json'], { env })).stdout) as object[];
    expect(listed).toMatchObject({ name: 'door', enabled: true, auth_status: 'bearer_token', transport: { url: `${door.url}/mcp` } });
    expect(door.exchanges).toEqual([]);
  });

  test('[DOOR-2] [DOOR-3] [DOOR-6] connects, is offered all tools, calls one, and is in the record', async () => {
    const app = await startCodexAppServer(home, codex, env);
    const { data } = await app.servers();
    expect(data).toMatchObject([{ name: 'door' }]);
    expect(Object.keys(data[0]?.tools ?? {}).sort()).toEqual(door.listedNames().sort());

    const answer = await app.callTool('door', 'builtin_calculator', { expression: '6 * 7' });
    expect(answer).toMatchObject({ structuredContent: { result: 42 } });
    const agent = expect.stringMatching(/^codex/);
    expect(await door.recordedSum()).toMatchObject({ status: 'completed', door: 'mcp', user_name: 'alice', agent });
  });
});

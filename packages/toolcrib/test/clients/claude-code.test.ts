import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { part } from '../parts.ts';
import { openClientHome, type ClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { startDoorWithEverything } from './recorded-door.ts';
import { startScriptedModel } from './scripted-model.ts';

const clients = part('mcp-clients');
const { claude } = clientPrograms(clients);

describe.skipIf(!clients.available)('Claude Code with a token in its configuration', () => {
  let door: Awaited<ReturnType<typeof startDoorWithEverything>>;
  let home: ClientHome;
  beforeAll(async () => {
    [door, home] = await Promise.all([startDoorWithEverything(), openClientHome()]);
    const header = `Authorization: Bearer ${door.token}`;
    await home.run([...claude, 'mcp', 'add', '--transport', 'http', '--scope', 'user', 'door', `${door.url}/mcp`, '--header', header]);
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await door[Symbol.asyncDispose]();
  });

  test.each([['list'], ['get', 'door']])(
    '[DOOR-2] says with `mcp %s` that it is connected, after the server let it in',
    async (...words) => {
      const before = door.exchanges.length;
      const { stdout } = await home.run([...claude, 'mcp', ...words]);
      expect(stdout).toContain('✔ Connected');
      const discovery = door.exchanges.slice(before).find(({ rpc }) => rpc === 'server/discover');
      expect(discovery).toMatchObject({ status: 200, headers: { 'user-agent': expect.stringContaining('claude-code/') } });
      expect(JSON.parse(discovery?.answer ?? '')).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } });
    },
  );

  test('[DOOR-3] [DOOR-6] its agent is offered the tools, calls one, and is in the record', async () => {
    await using model = await startScriptedModel({ tool: 'builtin_calculator', args: { expression: '6 * 7' } });
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none', ENABLE_TOOL_SEARCH: 'false' };
    const command = [...claude, '-p', 'What is 6 times 7?', '--allowedTools', 'mcp__door__builtin_calculator'];
    expect((await home.run(command, { env })).stdout).toContain(model.farewell);

    const offered = new Set(model.turns[0]?.tools);
    const named = door.listedNames().map((name) => `mcp__door__${name}`);
    // It leaves out a tool whose schema has `allOf` at the top, which its model would not take.
    expect(named.filter((name) => !offered.has(name))).toEqual(['mcp__door__everything_json_schema_2020_12_tool']);
    expect(named.filter((name) => name.length > 64)).toEqual([]);
    expect(model.turns.at(-1)?.text).toMatch(/"tool_result".*42/);

    const agent = expect.stringMatching(/^claude-code\/2\./);
    expect(await door.recordedSum()).toMatchObject({ status: 'completed', door: 'mcp', user_name: 'alice', agent });
  });
});

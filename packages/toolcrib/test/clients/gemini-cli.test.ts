import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { part } from '../parts.ts';
import { openClientHome, type ClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { startDoorWithEverything } from './recorded-door.ts';
import { startScriptedModel } from './scripted-model.ts';

const clients = part('mcp-clients');
const { gemini } = clientPrograms(clients);
/** It contacts no server from a folder that its user does not trust, and starts itself once more unless told not to. */
const env = { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_CLI_NO_RELAUNCH: 'true' };

describe.skipIf(!clients.available)('Gemini CLI with a token in its configuration', () => {
  let door: Awaited<ReturnType<typeof startDoorWithEverything>>;
  let home: ClientHome;
  beforeAll(async () => {
    [door, home] = await Promise.all([startDoorWithEverything(), openClientHome()]);
    const header = `Authorization: Bearer ${door.token}`;
    const added = ['mcp', 'add', '--scope', 'user', '--transport', 'http', '--header', header, 'door', `${door.url}/mcp`];
    await home.run([...gemini, ...added], { env });
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await door[Symbol.asyncDispose]();
  });

  test('[DOOR-2] says with `mcp list` that it is connected, after a handshake with the server', async () => {
    const { stdout, stderr } = await home.run([...gemini, 'mcp', 'list'], { env });
    expect(`${stdout}${stderr}`).toMatch(/door: .* - Connected/);
    const handshake = door.exchanges.find(({ rpc }) => rpc === 'initialize');
    expect(handshake).toMatchObject({ status: 200, params: { protocolVersion: '2025-06-18' } });
    expect(JSON.parse(handshake?.answer ?? '')).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
  });

  test('[DOOR-3] [DOOR-6] its agent is offered all tools, calls one, and is in the record', async () => {
    await using model = await startScriptedModel({ tool: 'builtin_calculator', args: { expression: '6 * 7' } });
    const settings = join(home.path, '.gemini', 'settings.json');
    const before = JSON.parse(await readFile(settings, 'utf8')) as object;
    const without = { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } };
    await writeFile(settings, JSON.stringify({ ...before, ...without }));
    // With the name of a model, or it asks one which model to ask.
    const command = [...gemini, '--model', 'gemini-2.5-flash', '--approval-mode', 'yolo', '--prompt', 'What is 6 times 7?'];
    const account = { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model.url };
    expect((await home.run(command, { env: { ...env, ...account } })).stdout).toContain(model.farewell);

    const named = door.listedNames().map((name) => `mcp_door_${name}`);
    expect(model.turns[0]?.tools).toEqual(expect.arrayContaining(named));
    expect(named.filter((name) => name.length > 64)).toEqual([]);
    expect(model.turns.at(-1)?.text).toMatch(/"functionResponse".*42/);

    const agent = expect.stringMatching(/^gemini-cli-mcp-client\/0\./);
    expect(await door.recordedSum()).toMatchObject({ status: 'completed', door: 'mcp', user_name: 'alice', agent });
  });
});

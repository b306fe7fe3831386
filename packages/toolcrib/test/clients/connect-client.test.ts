import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launcher } from '../cli/run-toolcrib.ts';
import { part } from '../parts.ts';
import { openClientHome, type ClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { startDoorWithEverything } from './recorded-door.ts';

const clients = part('mcp-clients');
const { claude, gemini, codex } = clientPrograms(clients);

describe.skipIf(!clients.available)('a file that connect-client has written', () => {
  let door: Awaited<ReturnType<typeof startDoorWithEverything>>;
  let home: ClientHome;
  let env: Record<string, string>;
  beforeAll(async () => {
    [door, home] = await Promise.all([startDoorWithEverything(), openClientHome()]);
    env = { DOOR_TOKEN: door.token, GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_CLI_NO_RELAUNCH: 'true' };
    const address = `${door.url}/mcp?mode=search`;
    for (const client of ['claude-code', 'gemini', 'codex']) {
      const options = ['--name', 'door', '--address', address, '--token-env', 'DOOR_TOKEN', '--write', '--yes'];
      await home.run([process.execPath, launcher, 'connect-client', client, ...options]);
    }
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await door[Symbol.asyncDispose]();
  });

  /** The requests with the token at the address, while something is done. */
  async function admitted(act: () => Promise<unknown>): Promise<unknown[]> {
    const before = door.exchanges.length;
    await act();
    return door.exchanges.slice(before).filter(({ path, status }) => path === '/mcp?mode=search' && status === 200);
  }

  test('[DOOR-1] connects Claude Code', async () => {
    let printed = '';
    const seen = await admitted(async () => {
      ({ stdout: printed } = await home.run([...claude, 'mcp', 'list'], { env }));
    });
    expect(printed).toContain('✔ Connected');
    expect(seen.length).toBeGreaterThan(0);
  });

  test('[DOOR-1] connects Gemini CLI', async () => {
    let printed = '';
    const seen = await admitted(async () => {
      const { stdout, stderr } = await home.run([...gemini, 'mcp', 'list'], { env });
      printed = `${stdout}${stderr}`;
    });
    expect(printed).toMatch(/door: .* - Connected/);
    expect(seen.length).toBeGreaterThan(0);
  });

  test('[DOOR-1] is read by Codex CLI', async () => {
    const [listed] = JSON.parse((await home.run([...codex, 'mcp', 'list', '--json'], { env })).stdout) as object[];
    expect(listed).toMatchObject({
      name: 'door',
      enabled: true,
      auth_status: 'bearer_token',
      transport: { url: `${door.url}/mcp?mode=search`, bearer_token_env_var: 'DOOR_TOKEN' },
    });
  });
});

import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChromium, type Chromium } from '../fixtures/chromium.ts';
import { part } from '../parts.ts';
import { until } from '../running-server.ts';
import { openClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { startCodexAppServer } from './codex-app-server.ts';
import { registeredClient, startKeycloakDoor } from './keycloak-door.ts';

const [clients, chromium, keycloak] = [part('mcp-clients'), part('chromium'), part('keycloak')];
const available = clients.available && chromium.available && keycloak.available;
const { claude, codex } = clientPrograms(clients);

describe.skipIf(!available)('with Keycloak directly', () => {
  let door: Awaited<ReturnType<typeof startKeycloakDoor>>;
  let browser: Chromium;
  beforeAll(async () => {
    browser = await openChromium(chromium.available ? chromium.url : '');
    door = await startKeycloakDoor(keycloak.available ? keycloak.url : '');
  });
  afterAll(async () => {
    await door[Symbol.asyncDispose]();
    await browser[Symbol.asyncDispose]();
  });

  test('[LOGIN-1] `codex mcp add` logs in, and its app server calls a tool', async () => {
    await using home = await openClientHome();
    const adding = home.start([...codex, 'mcp', 'add', 'door', '--url', `${door.url}/mcp`, '--oauth-client-id', registeredClient]);
    const [url] = await adding.printedMatch(/^http\S+\/auth\?\S+$/m);
    await browser.logIn(url, { username: 'alice', consent: false });
    await adding.printedMatch(/Successfully logged in/);
    expect((await adding.ended).code).toBe(0);
    const [listed] = JSON.parse((await home.run([...codex, 'mcp', 'list', '--json'])).stdout) as object[];
    expect(listed).toMatchObject({ name: 'door', auth_status: 'o_auth' });

    const app = await startCodexAppServer(home, codex, {});
    expect((await app.servers()).data[0]?.tools).toHaveProperty('builtin_calculator');
    expect(await app.callTool('door', 'builtin_calculator', { expression: '6 * 7' })).toMatchObject({ structuredContent: { result: 42 } });
    expect((await door.recordedCalls())[0]).toMatchObject({ user_name: 'alice', agent: expect.stringMatching(/^codex/), door: 'mcp' });
  });

  test('[LOGIN-1] `claude mcp login` opens the browser, and is connected afterwards', async () => {
    await using home = await openClientHome();
    const added = ['mcp', 'add', '--transport', 'http', '--scope', 'user', '--client-id', registeredClient, 'door', `${door.url}/mcp`];
    await home.run([...claude, ...added]);
    expect((await home.run([...claude, 'mcp', 'list'])).stdout).toContain('Needs authentication');
    // It logs in at a terminal only, and gives the address to the program that it takes for the browser.
    const [opened, open] = [join(home.path, 'opened'), join(home.path, 'open')];
    await writeFile(open, `#!/bin/sh\nprintf '%s' "$1" > "${opened}.part" && mv "${opened}.part" "${opened}"\n`);
    await chmod(open, 0o755);
    const command = [...claude, 'mcp', 'login', 'door'].map((word) => `'${word}'`).join(' ');
    const logging = home.start(['script', '-qec', command, '/dev/null'], { env: { BROWSER: open, TERM: 'xterm', SHELL: '/bin/sh' } });
    const url = await Promise.race([
      until(() => readFile(opened, 'utf8').catch(() => undefined)),
      logging.ended.then(({ stdout }) => {
        throw new Error(`It opened no browser: ${stdout}`);
      }),
    ]);
    await browser.logIn(url, { username: 'alice', consent: false });
    await logging.printedMatch(/Authenticated with "door"/);

    const before = door.exchanges.length;
    expect((await home.run([...claude, 'mcp', 'list'])).stdout).toContain('✔ Connected');
    expect(door.exchanges.slice(before).find(({ rpc }) => rpc === 'server/discover')).toMatchObject({ status: 200 });
  });
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChromium, type Chromium } from '../fixtures/chromium.ts';
import { part } from '../parts.ts';
import { openClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { startCodexAppServer } from './codex-app-server.ts';
import { awaitOpenedPage } from './opened-page.ts';
import { registeredClient, startKeycloakDoor } from './keycloak-door.ts';
import { startScriptedModel } from './scripted-model.ts';

const [clients, chromium, keycloak] = [part('mcp-clients'), part('chromium'), part('keycloak')];
const available = clients.available && chromium.available && keycloak.available;
const { claude, codex, gemini } = clientPrograms(clients);

describe.skipIf(!available).each(['directly', 'behind the bridge'] as const)('with Keycloak %s', (place) => {
  const consent = place === 'behind the bridge';
  let door: Awaited<ReturnType<typeof startKeycloakDoor>>;
  let browser: Chromium;
  beforeAll(async () => {
    browser = await openChromium(chromium.available ? chromium.url : '');
    door = await startKeycloakDoor(keycloak.available ? keycloak.url : '', place);
  });
  afterAll(async () => {
    await door[Symbol.asyncDispose]();
    await browser[Symbol.asyncDispose]();
  });

  test('[LOGIN-1] `codex mcp add` logs in, and its app server calls a tool', async () => {
    await using home = await openClientHome();
    // Without this it names a document at its vendor's, which the bridge cannot fetch here.
    const known = consent ? ['--oauth-client-registration', 'dcr'] : ['--oauth-client-id', registeredClient];
    const adding = home.start([...codex, 'mcp', 'add', 'door', '--url', `${door.url}/mcp`, ...known]);
    const [url] = await adding.printedMatch(/^http\S+\/auth\?\S+$/m);
    await browser.logIn(url, { username: 'alice', consent });
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
    // Without a client id it names a document at its vendor's, which the bridge cannot fetch here.
    const added = ['mcp', 'add', '--transport', 'http', '--scope', 'user', '--client-id', registeredClient, 'door', `${door.url}/mcp`];
    await home.run([...claude, ...added]);
    expect((await home.run([...claude, 'mcp', 'list'])).stdout).toContain('Needs authentication');
    // It logs in at a terminal only, and gives the address to the program that it takes for the browser.
    const page = await awaitOpenedPage(home);
    const command = [...claude, 'mcp', 'login', 'door'].map((word) => `'${word}'`).join(' ');
    const env = { ...page.env, TERM: 'xterm', SHELL: '/bin/sh' };
    const logging = home.start(['script', '-qec', command, '/dev/null'], { env });
    const url = await page.of(logging);
    await browser.logIn(url, { username: 'alice', consent });
    await logging.printedMatch(/Authenticated with "door"/);

    const before = door.exchanges.length;
    expect((await home.run([...claude, 'mcp', 'list'])).stdout).toContain('✔ Connected');
    expect(door.exchanges.slice(before).find(({ rpc }) => rpc === 'server/discover')).toMatchObject({ status: 200 });
  });

  // For a login that it begins by itself it registers, which the realm allows nobody.
  test.runIf(consent)('[LOGIN-1] [LOGIN-3] Gemini CLI registers and logs in when it connects, and its agent calls a tool', async () => {
    await using home = await openClientHome();
    await using model = await startScriptedModel({ tool: 'builtin_calculator', args: { expression: '6 * 7' } });
    await mkdir(join(home.path, '.gemini'));
    const settings = {
      mcpServers: { door: { url: `${door.url}/mcp`, type: 'http', oauth: { enabled: true } } },
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    };
    await writeFile(join(home.path, '.gemini', 'settings.json'), JSON.stringify(settings));
    const page = await awaitOpenedPage(home);
    const env = {
      ...page.env,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: model.url,
    };
    const command = [...gemini, '--model', 'gemini-2.5-flash', '--approval-mode', 'yolo', '--prompt', 'What is 6 times 7?'];
    const agent = home.start(command, { env });
    // Without a terminal it asks there.
    await agent.printedMatch(/Do you want to continue\?/);
    agent.write('y\n');
    await browser.logIn(await page.of(agent), { username: 'alice', consent });
    expect(await agent.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(model.farewell) });
    expect(model.turns.at(-1)?.text).toMatch(/"functionResponse".*42/);
    expect((await door.recordedCalls())[0]).toMatchObject({ user_name: 'alice', agent: expect.stringMatching(/^gemini-cli/), door: 'mcp' });
  });
});

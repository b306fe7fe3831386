import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openChromium, type Chromium } from '../fixtures/chromium.ts';
import { startHttpServer, type RunningServer } from '../fixtures/http-server.ts';
import { part } from '../parts.ts';
import { until } from '../running-server.ts';
import { openClientHome } from './client-home.ts';
import { clientPrograms } from './client-programs.ts';
import { registeredClient, startKeycloakDoor } from './keycloak-door.ts';
import { connectTypeScriptClient } from './typescript-client.ts';

const [clients, chromium, keycloak] = [part('mcp-clients'), part('chromium'), part('keycloak')];
const available = clients.available && chromium.available && keycloak.available;
const { python } = clientPrograms(clients);

describe.skipIf(!available).each(['directly', 'behind the bridge'] as const)('with Keycloak %s', (place) => {
  const isBridge = place === 'behind the bridge';
  let door: Awaited<ReturnType<typeof startKeycloakDoor>>;
  let browser: Chromium;
  let callback: RunningServer;
  beforeAll(async () => {
    browser = await openChromium(chromium.available ? chromium.url : '');
    callback = await startHttpServer((_request, response) => response.end('You may close this page.'));
    door = await startKeycloakDoor(keycloak.available ? keycloak.url : '', place);
  });
  afterAll(async () => {
    await door[Symbol.asyncDispose]();
    await callback[Symbol.asyncDispose]();
    await browser[Symbol.asyncDispose]();
  });

  async function logIn(url: string): Promise<URL> {
    const { back, asked } = await browser.logIn(url, { username: 'alice', consent: isBridge });
    // Our page names the client and the address.
    expect(asked).toMatch(isBridge ? new RegExp(`A (TypeScript|Python) client[^]*${door.url}/mcp`) : /^$/);
    return back;
  }

  /** Waits until the server refuses this token, as it does once it has expired. */
  async function expired(token: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    await until(async () => (await fetch(`${door.url}/mcp`, { method: 'POST', headers, body: '{}' })).status === 401);
  }

  test('[LOGIN-1] [DOOR-4] the TypeScript SDK finds it, logs in, calls a tool, and keeps its session with a refreshed token', async () => {
    const registered = isBridge ? undefined : { client_id: registeredClient, issuer: door.realm.issuer };
    const input = { url: `${door.url}/mcp`, redirectUri: `${callback.origin}/callback`, registered };
    await using connected = await connectTypeScriptClient(input, logIn);
    const { client, transport, tokens } = connected;
    const sum = { name: 'builtin_calculator', arguments: { expression: '6 * 7' } };
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(sum.name);
    expect(await client.callTool(sum)).toMatchObject({ structuredContent: { result: 42 } });

    const [session, token] = [transport.sessionId, tokens()?.access_token];
    await expired(String(token));
    expect(await client.callTool(sum)).toMatchObject({ structuredContent: { result: 42 } });
    expect(tokens()?.access_token).not.toBe(token);
    expect(session).toMatch(/./);
    expect(transport.sessionId).toBe(session);
    expect((await door.recordedCalls())[0]).toMatchObject({ user_name: 'alice', agent: 'typescript-sdk/1.0.0', door: 'mcp' });
  });

  test.each(['legacy', 'auto'])(
    '[LOGIN-1] [DOOR-4] the Python SDK (%s) finds it, logs in, calls a tool, and goes on with a refreshed token',
    async (mode) => {
      await using home = await openClientHome();
      const client = home.start([...python, join(import.meta.dirname, 'python', 'use_sdk.py')]);
      const given = {
        url: `${door.url}/mcp`,
        mode,
        redirect_uri: `${callback.origin}/callback`,
        client_id: isBridge ? null : registeredClient,
      };
      client.write(`${JSON.stringify(given)}\n`);
      const [, url = ''] = await client.printedMatch(/^\{"open": "(.*)"\}$/m);
      client.write(`${(await logIn(url)).href}\n`);
      expect((await client.printedMatch(/^\{"tools": .*$/m))[0]).toContain('builtin_calculator');
      client.write('call\n');
      const [, token = ''] = await client.printedMatch(/^\{"called": \{"result": 42\}, "token": "(.*)"\}$/m);

      await expired(token);
      client.end('call\n');
      await client.printedMatch(/(^\{"called".*\s+){2}/m);
      const { code, stdout } = await client.ended;
      const used = [...stdout.matchAll(/^\{"called": \{"result": 42\}, "token": "(.*)"\}$/gm)].map(([, token]) => token);
      expect([code, used.length, new Set(used).size]).toEqual([0, 2, 2]);
      const sessions = door.exchanges.filter(({ rpc }) => rpc === 'tools/call').map(({ headers }) => headers['mcp-session-id']);
      expect(new Set(sessions.slice(-2)).size).toBe(1);
      expect(typeof sessions.at(-1)).toBe(mode === 'legacy' ? 'string' : 'undefined');
      expect((await door.recordedCalls())[0]).toMatchObject({ user_name: 'alice', agent: expect.stringMatching(/^mcp/), door: 'mcp' });
    },
  );
});

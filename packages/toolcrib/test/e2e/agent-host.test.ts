import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as forward, type RequestListener } from 'node:http';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHost } from '../../../../examples/agent-host/host.ts';
import { createPizzeria } from '../../../../examples/keycloak/pizzeria.ts';
import { freePort } from '../../src/net/free-port.ts';
import { Browser } from '../fixtures/browser.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { freshRealm, gatewaySecret, userPassword, type KeycloakRealm } from '../fixtures/keycloak-realm.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { makeKey } from '../fixtures/token-issuer.ts';
import { part } from '../parts.ts';
import { startTestServer, until } from '../running-server.ts';

const keycloak = part('keycloak');

/** Everything there is: Keycloak, an upstream that wants tokens of its own, Toolcrib, and the host application. */
async function startHost() {
  await using stack = new AsyncDisposableStack();
  let host: RequestListener | undefined;
  const front = stack.use(await startHttpServer((request, response) => host?.(request, response)));
  const realm = stack.use(
    await freshRealm(keycloak.available ? keycloak.url : '', { backchannelLogoutUrl: `${front.origin}/backchannel-logout` }),
  );
  const { issuer } = realm;
  const pizzeria = stack.use(await startHttpServer(createPizzeria({ issuer, audience: 'pizzeria-api' })));
  const server = stack.use(await startTestServer({ issuers: [realm.config], allowedNetworks: ['loopback'] }));
  const admin = server.client((await realm.signIn('admin')).access_token);
  await grantEverything(admin);
  const client = { client_id: 'toolcrib-gateway', client_secret: gatewaySecret };
  const registered = await admin.post('/api/sources?wait=20000', {
    name: 'Pizzeria',
    mcp_server_url: `${pizzeria.origin}/mcp`,
    credential: { type: 'token_exchange', audience: 'pizzeria-api', ...client },
    discovery_credential: { type: 'client_credentials', token_url: `${issuer}/protocol/openid-connect/token`, ...client },
  });
  expect(registered.json).toMatchObject({ status: { state: 'running' } });

  // Requests of the host to Toolcrib pass through here.
  const seen: string[] = [];
  const refusedOnce = new Set<string>();
  const toolcrib = stack.use(
    await startHttpServer((request, response) => {
      const token = request.headers.authorization ?? '';
      seen.push(token);
      if (refusedOnce.delete(token)) return void response.writeHead(401).end();
      const onward = forward(new URL(request.url ?? '', server.url), {
        method: request.method,
        headers: { ...request.headers, host: new URL(server.url).host },
      });
      onward.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        pipeline(answer, response).catch(() => undefined);
      });
      pipeline(request, onward).catch(() => response.destroy());
    }),
  );
  host = await createHost({ issuer, clientId: 'agent-host', toolcribUrl: toolcrib.origin, ownUrl: front.origin });
  const owned = stack.move();
  return { url: front.origin, realm, seen, refusedOnce, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

describe.skipIf(!keycloak.available)('[HOST-1] in the example of a host application', () => {
  let host: Awaited<ReturnType<typeof startHost>>;
  beforeAll(async () => void (host = await startHost()));
  afterAll(() => host?.[Symbol.asyncDispose]());

  async function signedIn(username: string): Promise<Browser> {
    const browser = new Browser();
    const page = await browser.submit(await browser.open(`${host.url}/login`), { username, password: userPassword });
    expect(page).toMatchObject({ url: `${host.url}/`, status: 200, text: expect.stringContaining(`Hello, ${username}`) });
    return browser;
  }
  const ask = async (browser: Browser) => {
    const { status, text } = await browser.post(`${host.url}/ask`, { pizza: 'calzone' });
    return { status, lines: text.trim().split('\n') };
  };
  const sessionsOf = async (realm: KeycloakRealm, username: string) => {
    const [user] = (await (await realm.administer('GET', `/users?username=${username}`)).json()) as { id: string }[];
    return `/users/${user?.id}`;
  };

  test('the commands of the README work', async () => {
    const port = await freePort('127.0.0.1');
    const program = fileURLToPath(new URL('../../../../examples/agent-host/main.ts', import.meta.url));
    const child = spawn(process.execPath, [program], {
      env: { ISSUER: host.realm.issuer, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      expect(line).toBe(`The host application is open: http://127.0.0.1:${port}`);
      expect((await new Browser().open(`http://127.0.0.1:${port}/login`)).text).toContain('name="password"');
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });

  test('the agent uses the tools of the user who signed in, and learns from an error', async () => {
    const alice = await signedIn('alice');
    const { lines } = await ask(alice);
    expect(lines[0]).toMatch(/^I may use \d+ tools: .*pizzeria:order_pizza/);
    expect(lines.slice(1)).toEqual([
      'I call pizzeria:order_pizza for calzone.',
      'That failed: There is no calzone on the menu. There is: margherita, funghi, diavola.',
      'I call pizzeria:order_pizza for margherita.',
      '1 of 3: kneading',
      '2 of 3: baking',
      '3 of 3: boxing',
      'Done: 1 margherita for alice.',
      'So far: 1 orders.',
    ]);
    expect((await ask(await signedIn('bob'))).lines.slice(1)).toEqual([
      'I call pizzeria:order_pizza for calzone.',
      'That failed: bob may not do this: the role orders:write is missing.',
      'So far: 0 orders.',
    ]);
  });

  test('a token that is refused is renewed, and the request is sent again', async () => {
    const alice = await signedIn('alice');
    host.seen.length = 0;
    await ask(alice);
    const [used = ''] = host.seen;
    host.seen.length = 0;
    host.refusedOnce.add(used);
    expect((await ask(alice)).lines).toContain('Done: 1 margherita for alice.');
    const [again, ...others] = new Set(host.seen);
    expect(again).toBe(used);
    expect(others).toHaveLength(1);
  });

  test('a token that is about to expire is renewed before it is used', async () => {
    // Less than the half minute that the host wants to have left.
    await host.realm.administer('PUT', '', { accessTokenLifespan: 29 });
    try {
      const bob = await signedIn('bob');
      host.seen.length = 0;
      await ask(bob);
      expect(host.seen.length).toBeGreaterThan(1);
      expect(new Set(host.seen).size).toBe(host.seen.length);
    } finally {
      await host.realm.administer('PUT', '', { accessTokenLifespan: 300 });
    }
  });

  test('signing out ends the session at the provider too', async () => {
    const alice = await signedIn('alice');
    expect(await alice.post(`${host.url}/logout`)).toMatchObject({ url: `${host.url}/`, text: expect.stringContaining('Sign in') });
    expect(await ask(alice)).toMatchObject({ status: 401 });
    const page = await alice.open(`${host.url}/login`);
    expect(page.text).toContain('name="password"');
  });

  test('a session that is ended at the provider is over at once', async () => {
    const alice = await signedIn('alice');
    await host.realm.administer('POST', `${await sessionsOf(host.realm, 'alice')}/logout`);
    await until(async () => (await alice.open(host.url)).text.includes('Sign in'));
    expect(await ask(alice)).toMatchObject({ status: 401, lines: ['Sign in first.'] });
  });

  test('a session is over at the next renewal if the provider sends no notice', async () => {
    const bob = await signedIn('bob');
    host.seen.length = 0;
    await ask(bob);
    const [used = ''] = host.seen;
    // Revoking the session by itself tells nobody.
    const { sid } = JSON.parse(Buffer.from(used.split('.')[1] ?? '', 'base64url').toString()) as { sid: string };
    await host.realm.administer('DELETE', `/sessions/${sid}`);
    host.refusedOnce.add(used);
    expect(await ask(bob)).toMatchObject({ status: 401 });
    expect((await bob.open(host.url)).text).toContain('Sign in');
  });

  test('nobody else can end or use a session, or begin one for somebody', async () => {
    const alice = await signedIn('alice');
    const { privateKey } = await makeKey('forged', 'RS256');
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const forged = await new SignJWT({ iss: host.realm.issuer, aud: 'agent-host', sid: 'any', events })
      .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt', kid: 'forged' })
      .setIssuedAt()
      .sign(privateKey);
    expect(await new Browser().post(`${host.url}/backchannel-logout`, { logout_token: forged })).toMatchObject({ status: 400 });
    expect(await alice.post(`${host.url}/ask`, {}, { 'sec-fetch-site': 'same-site' })).toMatchObject({ status: 403 });
    expect(await new Browser().post(`${host.url}/ask`)).toMatchObject({ status: 401 });
    const stranger = await new Browser().open(`${host.url}/callback?code=abc&state=def`);
    expect(stranger).toMatchObject({ url: `${host.url}/`, text: expect.stringContaining('Sign in') });
    expect((await alice.open(host.url)).text).toContain('Hello, alice');
  });
});

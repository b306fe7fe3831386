import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redirectRefusal } from '../../src/login-bridge/redirect-policy.ts';
import { startDevelopmentBridge, type DevelopmentBridge } from './development-bridge.ts';
import { Person, type Shown } from './person.ts';
import { callback, codeIn, postJson, PublicClient } from './public-client.ts';

let bridge: DevelopmentBridge;
let known: PublicClient;
beforeAll(async () => {
  bridge = await startDevelopmentBridge();
  known = await PublicClient.register(bridge.url);
});
afterAll(() => bridge[Symbol.asyncDispose]());

/** The page that asks. */
async function ask(params: Record<string, string | undefined> = {}, metadata?: object) {
  const client = metadata === undefined ? new PublicClient(bridge.url, known.id) : await PublicClient.register(bridge.url, metadata);
  const person = new Person(callback);
  return { client, person, page: await person.open(client.loginUrl(params)) };
}

function errorIn({ url }: Shown): Record<string, string> {
  const { search, hash } = new URL(url);
  return Object.fromEntries(new URLSearchParams(search || hash.slice(1)));
}

describe('redirect addresses', () => {
  const refused = [
    'http://evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://localhost.evil.example/cb',
    'https://localhost/cb',
    'https://user@client.example/cb',
    'https://client.example/cb#fragment',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://client.example/x',
    'vbscript:x',
    'intent://x',
    'https://client.example/a b',
    'https://client.example/\n',
    '/relative',
    '',
  ];
  test.each(refused)('[LOGIN-3] nobody is sent back to %j', async (uri) => {
    expect(redirectRefusal(uri)).toEqual(expect.any(String));
    const { status, json } = await postJson(`${bridge.url}/login/register`, { redirect_uris: [callback, uri] });
    expect({ status, error: json.error }).toEqual({ status: 400, error: 'invalid_redirect_uri' });
  });

  const allowed = [
    'https://client.example/callback?x=1',
    'http://127.0.0.1:1234/cb',
    'http://[::1]:1234/cb',
    'http://localhost/cb',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'com.example.app:/callback',
  ];
  test.each(allowed)('[LOGIN-3] clients may be sent back to %s', async (uri) => {
    expect(redirectRefusal(uri)).toBeUndefined();
    expect((await postJson(`${bridge.url}/login/register`, { redirect_uris: [uri] })).status).toBe(201);
  });

  test('[LOGIN-3] a client that waits on this machine may do so on any port', async () => {
    const { page } = await ask({ redirect_uri: 'http://127.0.0.1:50001/callback' });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('A program on your computer (127.0.0.1)')]);
  });

  const unregistered = [
    'http://127.0.0.1:49152/other',
    'https://evil.example/',
    'http://localhost:49152/callback',
    `${callback}/..`,
    `${callback}?x=1`,
  ];
  test.each(unregistered)('[LOGIN-3] nobody is sent to %s, which the client has not registered', async (uri) => {
    const { page } = await ask({ redirect_uri: uri });
    expect([page.status, page.url, page.text]).toEqual([
      400,
      expect.stringContaining('/login/auth'),
      expect.stringContaining('has not registered'),
    ]);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});

describe('requests for a login', () => {
  test.each([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['for a token in the address', { response_type: 'token' }, 'unsupported_response_type'],
    ['for a page with a script', { response_mode: 'form_post' }, 'invalid_request'],
    ['without asking', { prompt: 'none' }, 'login_required'],
  ])('[LOGIN-3] a login %s is refused', async (_what, params, error) => {
    const { page } = await ask(params);
    const said = page.status === 0 ? errorIn(page) : { error: /(\w+): /.exec(page.text)?.[1] };
    expect(said).toMatchObject({ error });
  });

  const others = ['https://other.example/mcp', '/mcp/', '/mcp/a/b', '/api', '', '/mcp/../api', '/MCP', '/mcp?a=b?c', '/mcp#x'];
  test.each(others)('[LOGIN-2] a token for %j is refused, before anybody is asked', async (resource) => {
    const { page } = await ask({ resource: resource.startsWith('https:') ? resource : `${bridge.url}${resource}` });
    expect(errorIn(page)).toMatchObject({ error: 'invalid_target', iss: `${bridge.url}/login` });
  });

  test('[LOGIN-2] a code for one address gives no token for another', async () => {
    const { client, person, page } = await ask({ resource: `${bridge.url}/mcp/one` });
    const code = codeIn(await bridge.allow(person, page));
    expect(await client.redeem(code, { resource: `${bridge.url}/mcp/two` })).toMatchObject({
      status: 400,
      json: { error: 'invalid_target' },
    });
  });

  test('[LOGIN-3] under another host nothing is answered', async () => {
    for (const path of ['/login/auth', '/login/token', '/.well-known/oauth-authorization-server/login', '/login/jwks']) {
      const { status } = await hostedAt(`${bridge.url}${path}`, 'evil.example');
      expect([path, status]).toEqual([path, 403]);
    }
  });
});

describe('the page that asks', () => {
  test('[LOGIN-3] it cannot be framed, runs nothing and loads nothing', async () => {
    const { page } = await ask();
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/);
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.text).not.toMatch(/<script|<img|<iframe|<link|javascript:|\son\w+=/i);
  });

  test('[LOGIN-3] a hostile name is shown as what it is: a text that nobody has checked', async () => {
    const name = '</title><script>alert(1)</script>\u202Eevil\u0000 "\'& Toolcrib';
    const { page } = await ask({}, { client_name: name });
    expect(page.text).not.toMatch(/<script|\u202E|\0/);
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;evil &quot;&#39;&amp; Toolcrib');
    expect(page.text).toContain('nobody has checked it');
    const long = await ask({}, { client_name: 'x'.repeat(4000) });
    expect(long.page.text).not.toContain('x'.repeat(81));
  });

  test('[LOGIN-3] an answer counts only with what stands on the page, from the page itself', async () => {
    const { person, page } = await ask();
    const good = { answer: 'allow', user: 'alice', secret: bridge.secret() };
    expect(await person.submit(page, { ...good, form_token: 'x'.repeat(43) })).toMatchObject({ status: 403 });
    expect(await person.submit(page, { ...good, form_token: '' })).toMatchObject({ status: 403 });
    expect(await person.submit(page, good, { origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    expect(await person.submit(page, good, { origin: 'null' })).toMatchObject({ status: 403 });
    expect(codeIn(await person.submit(page, good))).toEqual(expect.any(String));
  });

  test('[LOGIN-3] a login that one browser has begun cannot be answered in another', async () => {
    const { page } = await ask();
    const other = new Person(callback);
    expect(await other.open(page.url)).toMatchObject({ status: 400, text: expect.stringContaining('another browser') });
    expect(await other.submit(page, { answer: 'allow', user: 'alice', secret: bridge.secret() })).toMatchObject({ status: 400 });
    const { person: third } = await ask();
    expect(await third.submit(page, { answer: 'allow', user: 'alice', secret: bridge.secret() })).toMatchObject({ status: 400 });
  });

  test('[LOGIN-3] a person who denies gives nothing, and the client is told', async () => {
    const { person, page } = await ask();
    expect(errorIn(await person.submit(page, { answer: 'deny' }))).toMatchObject({ error: 'access_denied', iss: `${bridge.url}/login` });
  });

  test('[LOGIN-3] in development only those who can read the secret of the server get in, and show it once', async () => {
    const { person, page } = await ask();
    const again = await person.submit(page, { answer: 'allow', user: 'bob', secret: 'guessed' });
    expect(again).toMatchObject({ status: 403, text: expect.stringContaining('not the secret') });
    codeIn(await person.submit(again, { answer: 'allow', user: 'bob', secret: bridge.secret() }));
    const client = new PublicClient(bridge.url, known.id);
    const next = await person.open(client.loginUrl());
    expect(next.text).not.toContain('name="secret"');
    codeIn(await person.submit(next, { answer: 'allow', user: 'admin' }));
    expect(await person.submit(await person.open(client.loginUrl()), { answer: 'allow', user: 'mallory' })).toMatchObject({ status: 400 });
  });
});

describe('codes and tokens', () => {
  test('[LOGIN-3] a code that comes again ends what it has given', async () => {
    const { client, person, page } = await ask();
    const code = codeIn(await bridge.allow(person, page));
    const { json: tokens } = await client.redeem(code);
    expect(await client.redeem(code)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await client.refresh(tokens.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });

  test('[LOGIN-3] a code is of no use without its verifier, for another client, or from another address', async () => {
    const stranger = await PublicClient.register(bridge.url);
    for (const attempt of [
      (client: PublicClient, code: string) => client.redeem(code, { code_verifier: 'x'.repeat(43) }),
      (_client: PublicClient, code: string) => stranger.redeem(code),
      (client: PublicClient, code: string) => client.redeem(code, { redirect_uri: 'http://127.0.0.1:1/callback' }),
    ]) {
      const { client, person, page } = await ask();
      const code = codeIn(await bridge.allow(person, page));
      expect(await attempt(client, code)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    }
  });

  test('[LOGIN-3] refresh tokens rotate, and one that comes again ends the whole family', async () => {
    const { client, tokens } = await bridge.logIn(known);
    const { json: second } = await client.refresh(tokens.refresh_token);
    expect(second.refresh_token).not.toBe(tokens.refresh_token);
    expect(await client.refresh(tokens.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await client.refresh(second.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    const { events } = (await (await bridge.server.as('admin')).get('/api/events?topic=login&limit=5')).json;
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'login-ended',
        subject: decodeJwt(tokens.access_token).gid,
        after: { reason: expect.stringContaining('twice') },
      }),
    );
  });

  test('[LOGIN-3] of several refreshes at once with one token at most one succeeds, and then nothing of the family is left', async () => {
    const { client, tokens } = await bridge.logIn(known);
    const answers = await Promise.all(Array.from({ length: 6 }, () => client.refresh(tokens.refresh_token)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeLessThanOrEqual(1);
    for (const { json } of won) expect(await client.refresh(json.refresh_token)).toMatchObject({ json: { error: 'invalid_grant' } });
  });

  test('[LOGIN-3] a client may end what it was given, and the family with it; a stranger may not', async () => {
    for (const which of ['access_token', 'refresh_token'] as const) {
      const { client, tokens } = await bridge.logIn(known);
      const stranger = await PublicClient.register(bridge.url);
      expect(await stranger.revoke(tokens[which])).toBe(200);
      const { status, json: second } = await client.refresh(tokens.refresh_token);
      expect(status).toBe(200);
      expect(await client.revoke(second[which])).toBe(200);
      expect(await client.refresh(second.refresh_token)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    }
  });

  test('[DOOR-4] a session of one person is unknown to another, and goes on after a refresh', async () => {
    const [alice, bob] = [await bridge.logIn(known, 'alice'), await bridge.logIn(known, 'bob')];
    const send = (token: string, method: string, headers: Record<string, string> = {}) => {
      const params =
        method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } : {};
      const all = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      };
      return fetch(`${bridge.url}/mcp`, { method: 'POST', headers: all, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
    };
    const begun = await send(alice.tokens.access_token, 'initialize');
    await begun.body?.cancel();
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    const list = async (token: string) => {
      const response = await send(token, 'tools/list', session);
      await response.body?.cancel();
      return response.status;
    };
    expect(await list(alice.tokens.access_token)).toBe(200);
    expect(await list(bob.tokens.access_token)).toBe(404);
    const { json } = await alice.client.refresh(alice.tokens.refresh_token);
    expect(await list(json.access_token)).toBe(200);
  });

  test('[LOGIN-4] the content of the database opens nothing: neither codes nor tokens, nor those of the provider', async () => {
    const { tokens } = await bridge.logIn(known);
    const rows = await bridge.everythingStored();
    for (const secret of [tokens.refresh_token, tokens.access_token]) expect(rows).not.toContain(secret);
    expect(rows).not.toMatch(/eyJ[A-Za-z0-9_-]+\.eyJ/);
  });
});

/** `fetch` sets the header itself. */
async function hostedAt(url: string, host: string): Promise<{ status: number }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0 });
    })
      .on('error', reject)
      .end();
  });
}

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeKey, startTokenIssuer } from '../fixtures/token-issuer.ts';
import { startTestServer, until, type TestServer } from '../running-server.ts';
import { enterDoor } from './enter-door.ts';
import { Person } from './person.ts';
import { callback, codeIn, PublicClient, type Tokens } from './public-client.ts';
import { scriptProvider } from './scripted-provider.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';
let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
let provider: ReturnType<typeof scriptProvider>;
let server: TestServer;
let known: PublicClient;

async function start(bridge: object = {}): Promise<TestServer> {
  const { issuer: name, config } = issuer;
  return startTestServer({
    issuers: [config],
    allowedNetworks: ['loopback'],
    mcpDoor: true,
    loginBridge: { client_id: 'toolcrib-login', issuer: name, recheck_seconds: 2, ...bridge },
  });
}

beforeAll(async () => {
  issuer = await startTokenIssuer();
  provider = scriptProvider(issuer);
  server = await start();
  known = await PublicClient.register(server.url);
});
beforeEach(() => {
  Object.assign(provider.script, {
    sub: `user-${randomUUID()}`,
    sid: randomUUID(),
    refresh: 'good',
    access: {},
    id: {},
    givesRefreshTokens: true,
  });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

/** Somebody who has allowed the client, and is at the provider. */
async function atProvider(at = server) {
  const client = at === server ? new PublicClient(server.url, known.id) : await PublicClient.register(at.url);
  const person = new Person(callback, `${issuer.issuer}/authorize`);
  return { client, person, there: await person.submit(await person.open(client.loginUrl()), { answer: 'allow' }) };
}

async function logIn(at = server): Promise<{ client: PublicClient; tokens: Tokens; enter: () => Promise<number> }> {
  const { client, person, there } = await atProvider(at);
  const { json: tokens } = await client.redeem(codeIn(await person.open(provider.answer(there))));
  return { client, tokens, enter: () => enterDoor(at.url, tokens.access_token) };
}

const notFor = 'cannot go on';

describe('the way back from the provider', () => {
  test('[LOGIN-3] the provider is asked with code, PKCE, state and nonce', async () => {
    const { there } = await atProvider();
    expect(Object.fromEntries(new URL(there.url).searchParams)).toMatchObject({
      client_id: 'toolcrib-login',
      redirect_uri: `${server.url}/login/callback`,
      response_type: 'code',
      scope: 'openid',
      code_challenge_method: 'S256',
      code_challenge: expect.any(String),
      nonce: expect.any(String),
      state: expect.any(String),
    });
  });

  test.each([
    ['without iss', { iss: null }],
    ['with the iss of another server', { iss: 'https://other.example' }],
    ['with a made-up state', { state: 'made-up' }],
    ['without a state', { state: null }],
    ['with a code that the provider never gave', { code: 'made-up' }],
  ])('[LOGIN-3] an answer %s is refused', async (_what, params) => {
    const { person, there } = await atProvider();
    expect(await person.open(provider.answer(there, params))).toMatchObject({ status: 400, text: expect.stringContaining(notFor) });
  });

  test('[LOGIN-3] an answer counts once, and in the browser that has asked only', async () => {
    const { person, there } = await atProvider();
    const { person: other } = await atProvider();
    const answer = provider.answer(there);
    expect((await new Person(callback).open(answer)).status).toBe(400);
    expect((await other.open(answer)).status).toBe(400);
    codeIn(await person.open(answer));
    expect((await person.open(answer)).status).toBe(400);
  });

  test('[LOGIN-3] an ID token with another nonce, for another client, or of another key is refused', async () => {
    for (const id of [{ nonce: 'another' }, { aud: 'another-client' }, { iss: 'https://other.example' }]) {
      Object.assign(provider.script, { id });
      const { person, there } = await atProvider();
      expect(await person.open(provider.answer(there))).toMatchObject({ status: 400, text: expect.stringContaining(notFor) });
    }
  });

  test('[LOGIN-4] an access token that is not meant for this server, or is about somebody else, makes no login', async () => {
    for (const access of [{ aud: 'another-service' }, { sub: 'somebody-else' }]) {
      Object.assign(provider.script, { access });
      const { person, there } = await atProvider();
      expect(await person.open(provider.answer(there))).toMatchObject({ status: 401, text: expect.stringContaining(notFor) });
    }
  });

  test('[LOGIN-3] where the provider refuses, the client is told', async () => {
    const { person, there } = await atProvider();
    const back = await person.open(provider.answer(there, { code: null, error: 'access_denied' }));
    expect(new URL(back.url).searchParams.get('error')).toBe('access_denied');
  });
});

describe('a login that goes on', () => {
  test('[LOGIN-4] it is checked with the provider while it is used, with a new token each time', async () => {
    const { enter } = await logIn();
    provider.refreshes.splice(0);
    await until(async () => {
      expect(await enter()).toBe(200);
      return provider.refreshes.length >= 2;
    });
    expect(new Set(provider.refreshes).size).toBe(provider.refreshes.length);
  });

  test('[LOGIN-5] a refusal of the provider ends everything that was given out', async () => {
    const { client, tokens, enter } = await logIn();
    expect(await enter()).toBe(200);
    provider.script.refresh = 'refused';
    await until(async () => (await enter()) === 401);
    expect(await client.refresh(tokens.refresh_token)).toMatchObject({ json: { error: 'invalid_grant' } });
  });

  test('[LOGIN-5] while the provider cannot be asked, nobody is let in for longer than stated, and the login goes on afterwards', async () => {
    const { enter } = await logIn();
    provider.script.refresh = 'broken';
    expect(await until(async () => (await enter()) === 503)).toBe(true);
    provider.script.refresh = 'good';
    expect(await until(async () => (await enter()) === 200)).toBe(true);
  });

  test('[LOGIN-4] a provider that suddenly names somebody else ends the login', async () => {
    const { enter } = await logIn();
    provider.script.access = { sub: 'somebody-else' };
    expect(await until(async () => (await enter()) === 401)).toBe(true);
  });

  test('[LOGIN-4] with the ID token as principal, the access token may be opaque to Toolcrib', async () => {
    await using other = await start({ principal_from: 'id_token' });
    provider.script.access = { aud: 'https://graph.example' };
    const { enter } = await logIn(other);
    expect(await enter()).toBe(200);
  });
});

test('[LOGIN-3] a server that cannot fetch documents of clients does not offer to, and asks for none', async () => {
  await using closed = await start({ client_documents: false });
  const { json } = await closed.client().get('/.well-known/oauth-authorization-server/login');
  expect(json).toMatchObject({ client_id_metadata_document_supported: false, registration_endpoint: `${closed.url}/login/register` });
  const page = await new Person(callback).open(new PublicClient(closed.url, 'https://client.example/metadata.json').loginUrl());
  expect(page.text).toContain('invalid_client');
});

describe('a logout at the provider', () => {
  const logoutToken = (claims: Record<string, unknown>, options: Parameters<typeof issuer.sign>[1] = {}) =>
    issuer.sign(
      { aud: 'toolcrib-login', sub: undefined, jti: randomUUID(), events: { [event]: {} }, ...claims },
      { header: { typ: 'logout+jwt' }, ...options },
    );
  const send = async (token: string) =>
    (await fetch(`${server.url}/login/backchannel-logout`, { method: 'POST', body: new URLSearchParams({ logout_token: token }) })).status;

  test('[LOGIN-5] by session, or by person, ends the logins at once', async () => {
    for (const claims of [() => ({ sid: provider.script.sid }), () => ({ sub: provider.script.sub })]) {
      Object.assign(provider.script, { sub: randomUUID(), sid: randomUUID() });
      const { enter } = await logIn();
      expect(await enter()).toBe(200);
      expect(await send(await logoutToken(claims()))).toBe(200);
      expect(await enter()).toBe(401);
    }
  });

  test('[LOGIN-5] is believed from the provider only, and for Toolcrib only', async () => {
    const { enter } = await logIn();
    const { sid } = provider.script;
    const stranger = await makeKey('first');
    for (const token of [
      logoutToken({ sid }, { key: stranger }),
      logoutToken({ sid, aud: 'another-client' }),
      logoutToken({ sid, events: {} }),
      logoutToken({ sid, nonce: 'x' }),
      logoutToken({ sid, iat: 1 }),
      logoutToken({}),
      Promise.resolve('no token'),
    ])
      expect(await send(await token)).toBe(400);
    expect(await enter()).toBe(200);
  });
});

import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createConnections, type Connections } from '../../src/identity/oauth/connections.ts';
import type { ConnectionOwner } from '../../src/identity/oauth/connection-owner.ts';
import { rekeyRows } from '../../src/secrets/rekey-rows.ts';
import { createSecretStore } from '../../src/secrets/secret-store.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { endlessAnswer, startHttpServer } from '../fixtures/http-server.ts';
import { loopbackEgress } from '../fixtures/loopback-egress.ts';
import { startProtectedServer } from '../fixtures/mcp/protected-server.ts';
import { startOAuthServer, type OAuthServer } from '../fixtures/oauth-server.ts';
import { sampleKeyRing, writtenKey } from '../secrets/key-rings.ts';

const oldKey = writtenKey('old');
const keyRing = sampleKeyRing(oldKey);
let oauth: OAuthServer;
let wiki: Awaited<ReturnType<typeof startProtectedServer>>;
let database: Database;
let store: Store;
let clock: number;
/** Two servers on one database. */
let here: Connections;
let there: Connections;

beforeAll(async () => {
  oauth = await startOAuthServer();
  wiki = await startProtectedServer(oauth);
});
afterAll(async () => {
  await wiki[Symbol.asyncDispose]();
  await oauth[Symbol.asyncDispose]();
});
beforeEach(async () => {
  clock = Date.now();
  Object.assign(oauth.settings, { tokenSeconds: 3600, issueRefreshTokens: true, metadata: {} });
  oauth.answers.clear();
  database = await openDatabase({ file: ':memory:' });
  store = createStore(database);
  const definition = null;
  await store.sources.upsert({
    id: 'wiki',
    name: 'Wiki',
    namespace: 'wiki',
    source_type: 'builtin',
    enabled: true,
    definition,
    managed_by: null,
    created_at: 0,
    updated_at: 0,
  });
  const now = () => clock;
  here = createConnections({ egress: loopbackEgress, store, keyRing, now });
  there = createConnections({ egress: loopbackEgress, store, keyRing, now });
  return () => database.close();
});

function connectionOwner(owner = 'https://issuer.test alice', serverUrl = wiki.url): ConnectionOwner {
  return {
    sourceId: 'wiki',
    owner,
    settings: {
      sourceId: 'wiki',
      sourceName: 'Wiki',
      serverUrl,
      isLegacySse: false,
      authorizationServer: undefined,
      resource: undefined,
      client: undefined,
      clientMetadataUrl: undefined,
      scope: undefined,
      skipIssuerCheck: false,
      dpop: false,
      allowInsecure: false,
    },
  };
}

const redirectUri = 'http://127.0.0.1:7300/api/connections/callback/wiki';
const by = { actor: 'https://issuer.test alice', client: null };
const begin = (who: ConnectionOwner, at = here) => at.begin(who, { redirectUri, begunBy: 'alice', by });

/** The user allows it, and the browser comes back. */
async function allowed(who: ConnectionOwner, user: string) {
  const back = await oauth.login((await begin(who)).authorization_url, user);
  const { state, code, iss } = Object.fromEntries(back.searchParams);
  return { state, code, iss };
}

async function connect(who: ConnectionOwner, user: string): Promise<void> {
  const { redemptionCode } = await here.park('wiki', await allowed(who, user));
  await there.redeem(who, { code: redemptionCode, by });
}

const tokenOf = async (who: ConnectionOwner, at = here) => (await at.tokens.get(who)).accessToken;
const subjectOf = async (who: ConnectionOwner, at = here) => oauth.check(await tokenOf(who, at))?.subject;
const refusal = async (work: Promise<unknown>) => {
  try {
    await work;
  } catch (error) {
    return error as { code: string; message: string; upstreamStatus?: number };
  }
  throw new Error('It was not refused');
};

describe('[MCP-12] a token that is about to expire', () => {
  test('is renewed once, however many servers want it at the same time, and no refresh token is lost', async () => {
    await connect(connectionOwner(), 'alice');
    await Promise.all([tokenOf(connectionOwner(), here), tokenOf(connectionOwner(), there)]);
    for (let round = 0; round < 5; round++) {
      clock += 3_590_000;
      const before = oauth.seen.token.length;
      const [tokens, others] = await Promise.all([
        Promise.all(Array.from({ length: 10 }, () => tokenOf(connectionOwner(), here))),
        Promise.all(Array.from({ length: 10 }, () => tokenOf(connectionOwner(), there))),
      ]);
      expect(new Set([...tokens, ...others]).size).toBe(1);
      expect(oauth.seen.token.length).toBe(before + 1);
    }
    // A refresh token that is used twice ends everything here.
    expect(await subjectOf(connectionOwner())).toBe('alice');
  });

  test('is used until it expires if the authorization server cannot be reached', async () => {
    await connect(connectionOwner(), 'alice');
    oauth.answers.set('/token', (_request, response) => void response.writeHead(503).end('busy'));
    clock += 3_570_000;
    expect(await subjectOf(connectionOwner())).toBe('alice');
    clock += 60_000;
    expect(await refusal(tokenOf(connectionOwner()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    oauth.answers.clear();
    expect(await subjectOf(connectionOwner())).toBe('alice');
  });

  test('and whose refresh token is refused needs a new connection', async () => {
    await connect(connectionOwner(), 'alice');
    oauth.expireRefreshTokens();
    clock += 3_600_000;
    expect(await refusal(tokenOf(connectionOwner()))).toMatchObject({
      code: 'UNAUTHENTICATED',
      details: { connect_url: '/api/connections/wiki' },
    });
    expect(await here.list(connectionOwner().owner)).toEqual(new Map());
    await connect(connectionOwner(), 'alice');
    expect(await subjectOf(connectionOwner())).toBe('alice');
  });

  test('and has no refresh token is used until it expires', async () => {
    oauth.settings.issueRefreshTokens = false;
    await connect(connectionOwner(), 'alice');
    clock += 3_599_000;
    expect(await subjectOf(connectionOwner())).toBe('alice');
    clock += 2000;
    expect(await refusal(tokenOf(connectionOwner()))).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('[MCP-12] a token that the server refuses', () => {
  test('is renewed, once for all who were refused', async () => {
    await connect(connectionOwner(), 'alice');
    const refused = await tokenOf(connectionOwner());
    clock += 60_000;
    const before = oauth.seen.token.length;
    const outcomes = [here, there, here, there].map((at) => at.tokens.refused(connectionOwner(), refused));
    expect(await Promise.all(outcomes)).toEqual([true, true, true, true]);
    expect(oauth.seen.token.length).toBe(before + 1);
    expect(await tokenOf(connectionOwner(), there)).toBe(await tokenOf(connectionOwner(), here));
  });

  test('for missing scopes is requested with more, but not forever with the same', async () => {
    await connect(connectionOwner(), 'alice');
    expect(await here.tokens.insufficient(connectionOwner(), 'admin')).toBe(true);
    await connect(connectionOwner(), 'alice');
    expect(oauth.seen.authorize.at(-1)?.get('scope')).toBe('tools admin');
    expect(await here.tokens.insufficient(connectionOwner(), 'admin')).toBe(false);
    expect(await here.tokens.insufficient(connectionOwner(), undefined)).toBe(false);
  });
});

describe('[SEC-3] the secrets of a connection', () => {
  test('are sealed and bound to the owner', async () => {
    await connect(connectionOwner('issuer alice'), 'alice');
    await connect(connectionOwner('issuer bob'), 'bob');
    const rows = await store.connections.list();
    expect(JSON.stringify(rows)).not.toMatch(/at-(alice|bob)|refresh_token|client_secret/);
    const [first, second] = rows;
    if (first === undefined || second === undefined) throw new Error('There should be two');
    await store.connections.update({ ...first, sealed: second.sealed });
    here.tokens.forget();
    expect(await refusal(tokenOf(connectionOwner(first.owner)))).toMatchObject({ code: 'CONFLICT' });
  });

  test('are sealed again with the newest key', async () => {
    await connect(connectionOwner(), 'alice');
    const ring = sampleKeyRing(writtenKey('new'), oldKey);
    expect(await rekeyRows({ store, keyRing: ring, actor: 'test' })).toEqual({ total: 1, rewritten: 1, deleted: [] });
    expect((await store.connections.list())[0]?.sealed).toMatch(/^v1\.new\./);
    const renewed = createConnections({ egress: loopbackEgress, store, keyRing: ring, now: () => clock });
    expect(await subjectOf(connectionOwner(), renewed)).toBe('alice');
    const foreign = createSecretStore({ store, keyRing: sampleKeyRing('other') });
    expect(await refusal(foreign.verify({ warn: () => undefined }))).toMatchObject({ code: 'CONFLICT' });
  });

  test('are deleted with the source', async () => {
    await connect(connectionOwner(), 'alice');
    await store.sources.delete('wiki');
    expect(await store.connections.list()).toEqual([]);
  });
});

test('[BFF-6] an authorization takes ten minutes at most', async () => {
  const response = await allowed(connectionOwner(), 'alice');
  clock += 600_001;
  expect(await refusal(here.park('wiki', response))).toMatchObject({ code: 'VALIDATION_ERROR', field: 'state' });
});

describe('[BFF-6] a parked authorization', () => {
  test('is redeemed once, by the user who began it, with the code in any spelling', async () => {
    const { redemptionCode } = await here.park('wiki', await allowed(connectionOwner(), 'alice'));
    expect(redemptionCode).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
    const tokens = oauth.seen.token.length;
    const mallory = { actor: 'https://issuer.test mallory', client: null };
    expect(await refusal(here.redeem(connectionOwner(), { code: redemptionCode, by: mallory }))).toMatchObject({ code: 'CONFLICT' });
    expect(await refusal(here.redeem(connectionOwner(mallory.actor), { code: redemptionCode, by: mallory }))).toMatchObject({
      code: 'CONFLICT',
    });
    expect(await refusal(here.redeem(connectionOwner(), { code: 'AAAA-AAAA-AAAA-AAAA', by }))).toMatchObject({ field: 'code' });
    expect(oauth.seen.token.length).toBe(tokens);
    const code = ` ${redemptionCode.toLowerCase().replaceAll('-', ' ')}`;
    const outcomes = await Promise.allSettled([
      here.redeem(connectionOwner(), { code, by }),
      there.redeem(connectionOwner(), { code, by }),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(oauth.seen.token.length).toBe(tokens + 1);
    expect(await subjectOf(connectionOwner())).toBe('alice');
  });

  test('is stored sealed, for five minutes at most', async () => {
    const response = await allowed(connectionOwner(), 'alice');
    const { redemptionCode } = await here.park('wiki', response);
    const rows = JSON.stringify(await store.connections.list());
    expect([rows.includes(response.code ?? ''), rows.includes(redemptionCode)]).toEqual([false, false]);
    clock += 300_001;
    expect(await refusal(here.redeem(connectionOwner(), { code: redemptionCode, by }))).toMatchObject({ code: 'CONFLICT' });
  });

  test('is gone when another one is begun', async () => {
    const { redemptionCode } = await here.park('wiki', await allowed(connectionOwner(), 'alice'));
    await begin(connectionOwner());
    expect(await refusal(here.redeem(connectionOwner(), { code: redemptionCode, by }))).toMatchObject({ code: 'CONFLICT' });
  });

  test('[SEC-1] is refused and used up at the callback of another source', async () => {
    const response = await allowed(connectionOwner(), 'alice');
    expect(await refusal(here.park('files', response))).toMatchObject({ message: expect.stringContaining('for another source') });
    expect(await refusal(here.park('wiki', response))).toMatchObject({ message: expect.stringContaining('used before') });
  });
});

test('[MCP-12] we register once with an authorization server, and again when the redirect address has changed', async () => {
  await connect(connectionOwner(), 'alice');
  const { registered } = oauth.seen;
  await connect(connectionOwner(), 'alice');
  expect(oauth.seen.registered).toBe(registered);
  await here.begin(connectionOwner(), { redirectUri: 'https://crib.example/api/connections/callback/wiki', begunBy: 'alice', by });
  expect(oauth.seen.registered).toBe(registered + 1);
  // That one led to nothing, so that it is not relied on.
  await connect(connectionOwner(), 'alice');
  expect(oauth.seen.registered).toBe(registered + 2);
});

describe('[SEC-1] a hostile server', () => {
  const redirect =
    (location: string): RequestListener =>
    (_request, response) =>
      void response.writeHead(302, { location }).end();
  const well = '/.well-known/oauth-authorization-server';

  test.each<[string, string, RequestListener]>([
    ['metadata that lead elsewhere', well, redirect('https://evil.example/')],
    ['metadata without an end', well, endlessAnswer().handle],
    ['metadata that are none', well, (_request, response) => void response.writeHead(200).end('<html>')],
    ['a registration that leads elsewhere', '/register', redirect('https://evil.example/')],
    ['a registration that is refused', '/register', (_request, response) => void response.writeHead(403).end()],
  ])('with %s starts no login', async (_what, path, answer) => {
    oauth.answers.set(path, answer);
    expect((await refusal(begin(connectionOwner()))).code).toMatch(/NETWORK_ERROR|SERVICE_UNAVAILABLE/);
    expect(await store.connections.list()).toEqual([]);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another issuer', { issuer: 'https://evil.example' }],
    ['an authorization page that runs code', { authorization_endpoint: 'javascript:alert(1)' }],
    ['an authorization page in plain text', { authorization_endpoint: 'http://evil.example/authorize' }],
    ['no PKCE', { code_challenge_methods_supported: ['plain'] }],
  ])('whose metadata name %s starts no login', async (_what, metadata) => {
    oauth.settings.metadata = metadata;
    expect((await refusal(begin(connectionOwner()))).code).toBe('NETWORK_ERROR');
  });

  test('whose token endpoint is plain http on another machine gets no code', async () => {
    oauth.settings.metadata = { token_endpoint: 'http://evil.example/token' };
    expect(await refusal(connect(connectionOwner(), 'alice'))).toMatchObject({ code: 'NETWORK_ERROR' });
    expect(await here.list(connectionOwner().owner)).toEqual(new Map());
  });

  test('that claims to be another resource starts no login', async () => {
    await using other = await startHttpServer((request, response) => {
      const body = { resource: 'https://elsewhere.example/mcp', authorization_servers: [oauth.issuer] };
      if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true) response.end(JSON.stringify(body));
      else response.writeHead(401).end();
    });
    expect((await refusal(begin(connectionOwner('issuer alice', `${other.origin}/mcp`)))).message).toContain('does not match');
  });

  test('on another machine cannot redirect us to this one', async () => {
    const guarded = loopbackEgress.guardedFetch({ allowInsecure: false, allowLoopback: false });
    const { cause } = (await refusal(guarded(oauth.issuer))) as unknown as { cause: Error };
    expect(cause.message).toContain('is an address of this machine');
  });
});

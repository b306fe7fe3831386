import type { RequestListener } from 'node:http';
import { decodeJwt } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExchangeTerms } from '../../src/identity/request-exchange.ts';
import { createTokenExchange, type TokenExchange } from '../../src/identity/token-exchange.ts';
import type { ExchangeOutcome } from '../../src/model/observer.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import type { Principal } from '../../src/model/principal.ts';
import { loopbackEgress } from '../fixtures/loopback-egress.ts';
import { exchangeClient, makeKey, startTokenIssuer } from '../fixtures/token-issuer.ts';

let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
let exchange: TokenExchange;
let time: number;
const outcomes: ExchangeOutcome[] = [];

const terms: ExchangeTerms = {
  audience: 'pizzeria-api',
  clientId: exchangeClient.client_id,
  clientSecret: exchangeClient.client_secret,
};

beforeEach(async () => {
  time = Date.now();
  outcomes.length = 0;
  issuer = await startTokenIssuer();
  const { issuerOf } = createTokenVerifier({ issuers: [issuer.config], fetchDocument: loopbackEgress.fetchDocument });
  exchange = createTokenExchange({
    egress: loopbackEgress,
    issuerOf,
    now: () => time,
    observer: { tokenExchanged: (outcome) => void outcomes.push(outcome) },
  });
});
afterEach(async () => {
  await exchange.close();
  await issuer[Symbol.asyncDispose]();
});

/** A caller as they come in. */
async function caller(claims: Record<string, unknown> = {}): Promise<Principal> {
  const { fetchDocument } = loopbackEgress;
  return createTokenVerifier({ issuers: [issuer.config], fetchDocument }).verify(await issuer.sign(claims));
}

const inSeconds = (seconds: number) => Math.floor(time / 1000) + seconds;
const answer =
  (status: number, body: unknown): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body));

describe('[ID-3] an exchange request', () => {
  test('is for exactly one audience, with the scopes of the source', async () => {
    const alice = await caller({ sub: 'alice' });
    const token = await exchange.tokensFor(alice, { ...terms, scope: 'orders:read orders:write' }).get();
    expect(decodeJwt(token)).toMatchObject({ sub: 'alice', aud: 'pizzeria-api' });
    const [form] = issuer.exchanges;
    expect(form?.getAll('audience')).toEqual(['pizzeria-api']);
    expect(Object.fromEntries(form ?? [])).toMatchObject({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope: 'orders:read orders:write',
    });
  });

  test('is never for a token for Toolcrib itself, which could be used against it', async () => {
    const tokens = exchange.tokensFor(await caller(), { ...terms, audience: 'toolcrib-gateway' });
    await expect(tokens.get()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: false });
    expect(issuer.exchanges).toEqual([]);
  });

  test('goes to the configured token endpoint, without a discovery document', async () => {
    const config = { ...issuer.config, jwks_uri: `${issuer.issuer}/keys`, token_endpoint: `${issuer.issuer}/token` };
    const { issuerOf } = createTokenVerifier({ issuers: [config], fetchDocument: loopbackEgress.fetchDocument });
    const alice = await caller();
    const { discovery } = issuer.fetches;
    const own = createTokenExchange({ egress: loopbackEgress, issuerOf });
    await own.tokensFor(alice, terms).get();
    expect(issuer.fetches.discovery).toBe(discovery);
    await own.close();
  });

  test('goes to the issuer of the caller, discovered once for keys and exchanges together', async () => {
    await exchange.tokensFor(await caller({ sub: 'alice' }), terms).get();
    const { discovery } = issuer.fetches;
    const { jwks } = issuer.fetches;
    await exchange.tokensFor(await caller({ sub: 'bob' }), terms).get();
    // The caller's own verifier asks each time; that of the exchange has asked before.
    expect([issuer.fetches.discovery, issuer.fetches.jwks]).toEqual([discovery + 1, jwks + 1]);
  });
});

describe('[ID-3] the result of an exchange', () => {
  test.each<[string, () => Promise<void> | void]>([
    ['for another audience', () => void (issuer.exchanged.claims = { aud: 'inventory-api' })],
    ['for several audiences', () => void (issuer.exchanged.claims = { aud: ['pizzeria-api', 'inventory-api'] })],
    ['without an audience', () => void (issuer.exchanged.claims = { aud: undefined })],
    ['about somebody else', () => void (issuer.exchanged.claims = { sub: 'mallory' })],
    ['of another issuer', () => void (issuer.exchanged.claims = { iss: 'https://elsewhere.test' })],
    ['that has ended', () => void (issuer.exchanged.claims = { exp: inSeconds(-60) })],
    ['without an end', () => void (issuer.exchanged.claims = { exp: undefined })],
    ['that somebody else has signed', async () => void (issuer.exchanged.key = await makeKey('first'))],
    ['that cannot be looked into', () => void (issuer.answers.token = answer(200, { access_token: 'opaque', token_type: 'Bearer' }))],
    ['of a kind we cannot send', () => void (issuer.answers.token = answer(200, { access_token: 'a.b.c', token_type: 'DPoP' }))],
  ])('is dropped if it is a token %s', async (_what, prepare) => {
    await prepare();
    const tokens = exchange.tokensFor(await caller({ sub: 'alice' }), terms);
    await expect(tokens.get()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(outcomes).toEqual(['failed']);
  });

  test('may have its one audience in a list', async () => {
    issuer.exchanged.claims = { aud: ['pizzeria-api'] };
    expect(decodeJwt(await exchange.tokensFor(await caller(), terms).get()).aud).toEqual(['pizzeria-api']);
  });
});

describe('[ID-3] an exchanged token', () => {
  test('is requested once, however many want it, and is then available without waiting', async () => {
    const alice = await caller();
    const tokens = Array.from({ length: 50 }, () => exchange.tokensFor(alice, terms));
    const all = new Set(await Promise.all(tokens.map(async (one) => one.get())));
    expect([all.size, issuer.exchanges.length]).toEqual([1, 1]);
    expect(exchange.tokensFor(alice, terms).get()).toBe([...all][0]);
    expect(outcomes).toEqual(['exchanged', 'cached']);
  });

  test.each<[string, { claims?: Record<string, unknown>; terms?: Partial<ExchangeTerms> }]>([
    ['another user', { claims: { sub: 'bob' } }],
    ['another token of the same user', { claims: { scope: 'less' } }],
    ['another audience', { terms: { audience: 'inventory-api' } }],
    ['other scopes', { terms: { scope: 'orders:read' } }],
  ])('is not shared with %s', async (_who, other) => {
    const claims = { sub: 'alice', scope: 'all' };
    const first = await exchange.tokensFor(await caller(claims), terms).get();
    const second = await exchange.tokensFor(await caller({ ...claims, ...other.claims }), { ...terms, ...other.terms }).get();
    expect(second).not.toBe(first);
    expect(issuer.exchanges).toHaveLength(2);
  });

  test('is not used after the client secret was changed to a wrong one', async () => {
    const alice = await caller();
    await exchange.tokensFor(alice, terms).get();
    await expect(exchange.tokensFor(alice, { ...terms, clientSecret: 'another' }).get()).rejects.toThrow(/may not exchange/);
  });

  test('is the same whatever the order of the scopes', async () => {
    const alice = await caller();
    const first = await exchange.tokensFor(alice, { ...terms, scope: 'a b' }).get();
    expect(await exchange.tokensFor(alice, { ...terms, scope: 'b  a' }).get()).toBe(first);
  });

  test.each([
    ['its own end', { subject: 300, exchanged: 120 }, 89, 91],
    ['the end of the token it came from', { subject: 100, exchanged: 3600 }, 69, 71],
  ])('is used until shortly before %s', async (_end, lives, before, after) => {
    issuer.exchanged.claims = { exp: inSeconds(lives.exchanged) };
    const tokens = exchange.tokensFor(await caller({ exp: inSeconds(lives.subject) }), terms);
    await tokens.get();
    const start = Math.floor(time / 1000) * 1000;
    time = start + before * 1000;
    await tokens.get();
    expect(issuer.exchanges).toHaveLength(1);
    issuer.exchanged.claims = { exp: inSeconds(lives.exchanged) };
    time = start + after * 1000;
    await tokens.get();
    expect(issuer.exchanges).toHaveLength(2);
  });

  test('that lives for less than that is used and not kept', async () => {
    issuer.exchanged.claims = { exp: inSeconds(20) };
    const tokens = exchange.tokensFor(await caller(), terms);
    await tokens.get();
    await tokens.get();
    expect(issuer.exchanges).toHaveLength(2);
  });

  test('is renewed once if the server rejects it, and not again and again', async () => {
    const tokens = exchange.tokensFor(await caller(), terms);
    const first = await tokens.get();
    expect(await Promise.all([tokens.refused(first), tokens.refused(first), tokens.refused(first)])).toEqual([true, true, true]);
    const second = await tokens.get();
    expect(second).not.toBe(first);
    expect(await tokens.refused(second)).toBe(false);
    expect(issuer.exchanges).toHaveLength(2);
    time += 11_000;
    expect(await tokens.refused(second)).toBe(true);
    expect(issuer.exchanges).toHaveLength(3);
  });
});

/** As Keycloak 26 answers, and what others do. */
const refusals: [what: string, status: number, body: unknown, code: string][] = [
  ['no role at the audience', 400, { error: 'invalid_request', error_description: 'Requested audience not available: x' }, 'FORBIDDEN'],
  ['access denied', 403, { error: 'access_denied', error_description: 'Client is not within the token audience' }, 'FORBIDDEN'],
  ['invalid target', 400, { error: 'invalid_target' }, 'FORBIDDEN'],
  ['invalid subject token', 400, { error: 'invalid_request', error_description: 'Invalid token' }, 'UNAUTHENTICATED'],
  ['invalid grant', 400, { error: 'invalid_grant', error_description: 'Session not active' }, 'UNAUTHENTICATED'],
  ['invalid token', 400, { error: 'invalid_token' }, 'UNAUTHENTICATED'],
  ['unknown audience', 400, { error: 'invalid_client', error_description: 'Audience not found' }, 'SERVICE_UNAVAILABLE'],
  ['unknown audience of others', 400, { error: 'invalid_target', error_description: 'Audience not found' }, 'SERVICE_UNAVAILABLE'],
  ['wrong secret', 401, { error: 'unauthorized_client', error_description: 'Invalid client or credentials' }, 'SERVICE_UNAVAILABLE'],
  ['wrong secret of others', 401, { error: 'invalid_client' }, 'SERVICE_UNAVAILABLE'],
  [
    'exchange not enabled',
    400,
    { error: 'invalid_request', error_description: 'Standard token exchange is not enabled for the requested client' },
    'SERVICE_UNAVAILABLE',
  ],
  ['unknown scope', 400, { error: 'invalid_scope', error_description: 'Invalid scopes: x' }, 'SERVICE_UNAVAILABLE'],
  ['a code nobody knows', 400, { error: '<b>secret</b>' }, 'SERVICE_UNAVAILABLE'],
  ['a page', 404, '<html>', 'SERVICE_UNAVAILABLE'],
  ['a page for a token', 200, '<html>', 'SERVICE_UNAVAILABLE'],
  ['a breakdown', 500, { error: 'unknown_error' }, 'SERVICE_UNAVAILABLE'],
  ['too many requests', 429, '', 'SERVICE_UNAVAILABLE'],
];

describe('[ID-5] a refusal by the issuer', () => {
  test.each(refusals)('because of %s is told apart from others', async (_what, status, body, code) => {
    issuer.answers.token = answer(status, body);
    const alice = await caller();
    const error = await Promise.resolve(exchange.tokensFor(alice, terms).get()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'NoCredentialError', code });
    expect(outcomes).toEqual([code === 'SERVICE_UNAVAILABLE' ? 'failed' : 'denied']);
    expect(String(error)).not.toContain(exchangeClient.client_secret);
    expect(String(error)).not.toContain('<');
  });

  test('never repeats the words of the issuer, which may be what it was sent', async () => {
    let seen = '';
    issuer.answers.token = (request, response) => {
      request.on('data', (chunk: Buffer) => (seen += chunk.toString()));
      request.on('end', () => answer(400, { error: 'invalid_request', error_description: `bad: ${seen}` })(request, response));
    };
    const error = await Promise.resolve(exchange.tokensFor(await caller(), terms).get()).catch((thrown: unknown) => thrown);
    const subject = new URLSearchParams(seen).get('subject_token') ?? '';
    expect(subject.length).toBeGreaterThan(100);
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(subject);
  });

  test.each(refusals.filter(([, , , code]) => code !== 'SERVICE_UNAVAILABLE'))('because of %s does not stop others', async (...row) => {
    const [, status, body] = row;
    const mallory = exchange.tokensFor(await caller({ sub: 'mallory' }), terms);
    issuer.answers.token = answer(status, body);
    for (let times = 0; times < 20; times++) await Promise.resolve(mallory.get()).catch(() => undefined);
    expect(issuer.fetches.token).toBe(20);
    delete issuer.answers.token;
    await exchange.tokensFor(await caller({ sub: 'alice' }), terms).get();
  });

  test('that concerns everybody is not requested again and again, and existing tokens stay in use', async () => {
    const alice = exchange.tokensFor(await caller({ sub: 'alice' }), terms);
    const token = await alice.get();
    issuer.answers.token = answer(503, '');
    const bob = exchange.tokensFor(await caller({ sub: 'bob' }), terms);
    for (let times = 0; times < 20; times++) await expect(bob.get()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(issuer.fetches.token).toBe(6);
    expect(alice.get()).toBe(token);
    // Another audience has its own.
    await expect(exchange.tokensFor(await caller(), { ...terms, audience: 'inventory-api' }).get()).rejects.toThrow('503');
    delete issuer.answers.token;
    time += 31_000;
    expect(decodeJwt(await bob.get()).sub).toBe('bob');
  });

  test('that concerns one user, whatever it is, stops nobody else', async () => {
    issuer.answers.token = answer(500, '');
    const mallory = exchange.tokensFor(await caller({ sub: 'mallory' }), terms);
    for (let times = 0; times < 20; times++) await expect(mallory.get()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(issuer.fetches.token).toBe(5);
    delete issuer.answers.token;
    expect(decodeJwt(await exchange.tokensFor(await caller({ sub: 'alice' }), terms).get()).sub).toBe('alice');
  });

  test('that three users got is assumed for the fourth, for a while', async () => {
    issuer.answers.token = answer(500, '');
    for (const sub of ['one', 'two', 'three', 'four']) {
      await expect(exchange.tokensFor(await caller({ sub }), terms).get()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    }
    expect(issuer.fetches.token).toBe(3);
    time += 31_000;
    delete issuer.answers.token;
    for (const sub of ['one', 'four']) await exchange.tokensFor(await caller({ sub }), terms).get();
  });

  test('is avoided once the caller’s own token has expired', async () => {
    const tokens = exchange.tokensFor(await caller({ exp: inSeconds(60) }), terms);
    time += 61_000;
    await expect(tokens.get()).rejects.toMatchObject({ code: 'UNAUTHENTICATED', message: expect.stringContaining('Your token expired') });
    expect(issuer.exchanges).toEqual([]);
  });

  test('is told apart from an issuer that is down, which is used again when it is back', async () => {
    const alice = await caller();
    const tokens = exchange.tokensFor(alice, terms);
    await issuer.stop();
    await expect(tokens.get()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
    await issuer.restart();
    await tokens.get();
  });
});

test('[ID-4] the application that embeds Toolcrib has no token to exchange', async () => {
  const application = { ...(await caller()), token: null };
  await expect(exchange.tokensFor(application, terms).get()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import { createDoorTokens, type BridgeTokens } from '../../src/mcp-door/door-tokens.ts';
import type { Principal } from '../../src/model/principal.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { startServerWithIssuer, userClaims } from '../running-server.ts';

let served: Awaited<ReturnType<typeof startServerWithIssuer>>;
beforeAll(async () => {
  served = await startServerWithIssuer({ mcpDoor: true });
});
afterAll(() => served[Symbol.asyncDispose]());

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const call = JSON.stringify({ name: 'builtin:uuid', arguments: {} });

async function statusOf(path: string, token: string, body = path.startsWith('/mcp') ? ping : call): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(`${served.server.url}${path}`, { method: 'POST', headers, body })).status;
}

const places = ['/mcp', '/mcp?mode=search', '/mcp/one', '/mcp/one?names=own', '/mcp/two', '/api/bff/tools/call'] as const;

describe('[LOGIN-2] a token for', () => {
  // What each token opens, in the order of `places`.
  test.each([
    ['the server', 'toolcrib-gateway', [200, 200, 200, 200, 200, 200]],
    ['the server and something else', ['other', 'toolcrib-gateway'], [200, 200, 200, 200, 200, 200]],
    ['the server and an address', ['{url}/mcp/one', 'toolcrib-gateway'], [200, 200, 200, 200, 200, 200]],
    ['all tools', '{url}/mcp', [200, 200, 401, 401, 401, 401]],
    ['all tools, with a query', '{url}/mcp?mode=search', [200, 200, 401, 401, 401, 401]],
    ['one group', '{url}/mcp/one', [401, 401, 200, 200, 401, 401]],
    ['one group, with a query', '{url}/mcp/one?names=own', [401, 401, 200, 200, 401, 401]],
    ['two groups', ['{url}/mcp/one', '{url}/mcp/two'], [401, 401, 200, 200, 200, 401]],
    ['an address with a slash', '{url}/mcp/', [401, 401, 401, 401, 401, 401]],
    ['a group with a slash', '{url}/mcp/one/', [401, 401, 401, 401, 401, 401]],
    ['the whole host', '{url}', [401, 401, 401, 401, 401, 401]],
    ['an address in capitals', '{url}/MCP', [401, 401, 401, 401, 401, 401]],
    ['an address with a fragment', '{url}/mcp#x', [401, 401, 401, 401, 401, 401]],
    ['the same path elsewhere', 'https://other.example.org/mcp', [401, 401, 401, 401, 401, 401]],
    ['nobody', undefined, [401, 401, 401, 401, 401, 401]],
    ['an empty list', [], [401, 401, 401, 401, 401, 401]],
    ['numbers', [1, 2], [401, 401, 401, 401, 401, 401]],
  ])('%s', async (_for, aud, wanted) => {
    const filled = JSON.parse((JSON.stringify(aud) ?? 'null').replaceAll('{url}', served.server.url)) as unknown;
    const claims = { ...userClaims, aud: filled ?? undefined };
    // Each place with a token of its own, and then all of them with one that the others have made known, in both orders.
    const alone = await Promise.all(places.map(async (place) => statusOf(place, await served.issuer.sign({ ...claims, place }))));
    expect(alone).toEqual(wanted);
    const token = await served.issuer.sign({ ...claims, shared: true });
    for (const order of [places, [...places].reverse(), places]) {
      const seen: Record<string, number> = {};
      for (const place of order) seen[place] = await statusOf(place, token);
      expect(places.map((place) => seen[place])).toEqual(wanted);
    }
    const together = await served.issuer.sign({ ...claims, together: true });
    expect(await Promise.all(places.map((place) => statusOf(place, together)))).toEqual(wanted);
  });
});

test('[LOGIN-2] a refused token is told why, and where to get another one', async () => {
  const { url } = served.server;
  const ask = async (authorization: string) => fetch(`${url}/mcp/one`, { method: 'POST', headers: { authorization } });
  const start = `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp/one", scope="mcp", error="invalid_token", error_description="`;
  const cases: [authorization: string, reason: string][] = [
    [`Bearer ${await served.issuer.sign({ exp: 1 })}`, 'The token has expired: get a new one'],
    [
      `Bearer ${await served.issuer.sign({ aud: 'other' })}`,
      `The token is not meant for this server: its audience must be toolcrib-gateway or ${url}/mcp/one`,
    ],
    ['Bearer nonsense', "This is not a token: send a signed JWT after 'Bearer'"],
    ['Basic abc', "The Authorization header must be 'Bearer <token>'"],
  ];
  for (const [authorization, reason] of cases) {
    const answer = await ask(authorization);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, `${start}${reason}"`]);
  }
});

test('[LOGIN-2] the REST API names no address of the door in its challenge', async () => {
  const token = await served.issuer.sign({ aud: `${served.server.url}/mcp` });
  const answer = await served.server.client(token).get('/api/bff/tools');
  expect([answer.status, answer.headers.get('www-authenticate'), answer.json.message]).toEqual([
    401,
    'Bearer',
    'The token is not meant for this server: its audience must be toolcrib-gateway',
  ]);
});

describe('[LOGIN-2] tokens of the bridge', () => {
  const verifierOf = () => createTokenVerifier({ fetchDocument, issuers: [served.issuer.config] });

  test('are for the bridge to verify, and those of an issuer are not', async () => {
    const asked: [string, string][] = [];
    const somebody = { subject: 'somebody' } as Principal;
    const bridge: BridgeTokens = {
      isOurs: (token) => token === 'ours',
      verify(token, resource) {
        asked.push([token, resource]);
        return somebody;
      },
    };
    const tokens = createDoorTokens({ verifier: verifierOf(), bridge });
    expect(tokens.verify('ours', 'https://crib.example.org/mcp')).toBe(somebody);
    const direct = await tokens.verify(await served.issuer.sign({ sub: 'alice' }), 'https://crib.example.org/mcp');
    expect(direct.subject).toBe('alice');
    expect(asked).toEqual([['ours', 'https://crib.example.org/mcp']]);
  });

  test('are unknown where there is no bridge', async () => {
    const tokens = createDoorTokens({ verifier: verifierOf() });
    await expect(async () => tokens.verify('ours', 'https://crib.example.org/mcp')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

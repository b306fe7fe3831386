import { discoverOAuthProtectedResourceMetadata, extractWWWAuthenticateParams, selectResourceURL } from '@modelcontextprotocol/client';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnServer, startServerWithIssuer, startTestServer, untilSeen, type TestServer } from '../running-server.ts';

type Served = Awaited<ReturnType<typeof startServerWithIssuer>>;

let served: Served;
let behindPath: Served;
let development: TestServer;
beforeAll(async () => {
  [served, behindPath, development] = await Promise.all([
    startServerWithIssuer({ mcpDoor: true, allowedOrigins: ['https://agent.example.org'] }),
    startServerWithIssuer({ mcpDoor: true, publicUrl: 'https://crib.example.org/tools/crib' }),
    startTestServer(),
  ]);
});
afterAll(() => Promise.all([served, behindPath, development].map(async (one) => one[Symbol.asyncDispose]())));

const wellKnown = '/.well-known/oauth-protected-resource';
const addresses = [
  '/mcp',
  '/mcp?mode=search',
  '/mcp?names=own',
  '/mcp?names=own&mode=list',
  '/mcp/builtin-tools',
  '/mcp/builtin-tools?mode=search',
  '/mcp/builtin-tools?mode=search&names=own',
  '/mcp/no_such-group',
];

describe.each(addresses)('the address %s', (address) => {
  test('[LOGIN-1] has metadata that names exactly this address', async () => {
    const answer = await fetch(`${served.server.url}${wellKnown}${address}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(await answer.json()).toEqual({
      resource: `${served.server.url}${address}`,
      authorization_servers: [served.issuer.issuer],
      scopes_supported: ['mcp'],
      bearer_methods_supported: ['header'],
      resource_name: address.startsWith('/mcp/') ? `Toolcrib: ${address.slice(5).replace(/\?.*/, '')}` : 'Toolcrib',
    });
  });

  test('[LOGIN-1] answers a request without a token with where its metadata is, whatever the method', async () => {
    const url = `${served.server.url}${address}`;
    for (const method of ['POST', 'GET', 'DELETE', 'HEAD']) {
      const answer = await fetch(url, { method });
      const challenge = `Bearer resource_metadata="${served.server.url}${wellKnown}${address}", scope="mcp"`;
      expect([method, answer.status, answer.headers.get('www-authenticate')]).toEqual([method, 401, challenge]);
    }
  });

  test("[LOGIN-1] is found and accepted by the official SDK's client, from the challenge and without it", async () => {
    const url = `${served.server.url}${address}`;
    const challenged = extractWWWAuthenticateParams(await fetch(url, { method: 'POST' }));
    expect(challenged.scope).toBe('mcp');
    for (const opts of [{}, challenged]) {
      const metadata = await discoverOAuthProtectedResourceMetadata(url, opts);
      // What Claude and VS Code compare.
      expect(metadata.resource).toBe(url);
      const resource = await selectResourceURL(url, {} as OAuthClientProvider, metadata);
      expect(resource?.href).toBe(url);
      expect(metadata.authorization_servers).toEqual([served.issuer.issuer]);
    }
  });

  test('[LOGIN-1] behind a proxy with a path, has its metadata between the host and the path', async () => {
    const { url } = behindPath.server;
    const shown = await fetch(`${url}${address}`, { method: 'POST' });
    expect(shown.headers.get('www-authenticate')).toContain(
      `resource_metadata="https://crib.example.org${wellKnown}/tools/crib${address}"`,
    );
    for (const passedOn of [`${wellKnown}/tools/crib${address}`, `${wellKnown}${address}`]) {
      expect(await (await fetch(`${url}${passedOn}`)).json()).toMatchObject({ resource: `https://crib.example.org/tools/crib${address}` });
    }
  });
});

describe('[LOGIN-1] an address that the door does not have', () => {
  const near = [
    '/',
    '//',
    '/x/',
    '/x/y',
    '/X',
    '/a%2Fb',
    '/-a',
    '/' + 'a'.repeat(65),
    '?mode=all',
    '?other=1',
    '/x?mode=search&x=1',
    '?mode=search&mode=list',
  ];

  test.each(near.map((end) => `/mcp${end}`))('%s has neither tools nor metadata, and is not redirected', async (address) => {
    const { url } = served.server;
    for (const path of [address, `${wellKnown}${address}`]) {
      const answer = await fetch(`${url}${path}`, { method: path === address ? 'POST' : 'GET', redirect: 'manual' });
      expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([path, 404, null]);
    }
  });

  test('the root of the server has no metadata, since it is no resource', async () => {
    for (const path of [wellKnown, `${wellKnown}/`, `${wellKnown}/api`, `${wellKnown}/MCP`]) {
      expect([path, (await fetch(`${served.server.url}${path}`)).status]).toEqual([path, 404]);
    }
  });
});

describe('[LOGIN-1] methods', () => {
  test('HEAD of metadata has the headers of GET and no body', async () => {
    const answer = await fetch(`${served.server.url}${wellKnown}/mcp`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, 'application/json; charset=utf-8', '']);
  });

  test.each([
    [`${wellKnown}/mcp`, ['POST', 'PUT', 'DELETE', 'PATCH'], 'GET, HEAD, OPTIONS'],
    [`${wellKnown}/mcp/x`, ['POST'], 'GET, HEAD, OPTIONS'],
    ['/mcp', ['PUT', 'PATCH'], 'GET, POST, DELETE, OPTIONS'],
    ['/mcp/x?mode=search', ['PUT'], 'GET, POST, DELETE, OPTIONS'],
  ])('others than those of %s get 405 and a list', async (path, methods, allow) => {
    for (const method of methods) {
      const answer = await fetch(`${served.server.url}${path}`, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allow]);
    }
    const options = await fetch(`${served.server.url}${path}`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
  });
});

describe('[LOGIN-1] pages in browsers', () => {
  const ask = async (path: string, origin: string, init: RequestInit = {}) =>
    fetch(`${served.server.url}${path}`, { ...init, headers: { origin, ...(init.headers as Record<string, string>) } });

  test('of an allowed origin can read metadata and the challenge, and send the headers of the protocol', async () => {
    const origin = 'https://agent.example.org';
    const metadata = await ask(`${wellKnown}/mcp`, origin);
    expect([metadata.status, metadata.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    const challenged = await ask('/mcp', origin, { method: 'POST' });
    expect([challenged.status, challenged.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
    const readable = challenged.headers.get('access-control-expose-headers')?.split(', ');
    expect(readable).toEqual(expect.arrayContaining(['WWW-Authenticate', 'Mcp-Session-Id']));
    const wanted = ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'last-event-id'];
    const asked = [...wanted, 'Mcp-Param-Region', 'x-other'].join(', ');
    const headers = { 'access-control-request-method': 'POST', 'access-control-request-headers': asked };
    const preflight = await ask('/mcp', origin, { method: 'OPTIONS', headers });
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(preflight.status).toBe(204);
    expect(allowed).toEqual(expect.arrayContaining([...wanted, 'mcp-param-region']));
    expect(allowed).not.toContain('x-other');
  });

  test('of other origins are refused', async () => {
    for (const path of [`${wellKnown}/mcp`, '/mcp']) {
      const answer = await ask(path, 'https://evil.example.org');
      expect([path, answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([path, 403, null]);
    }
  });
});

test('[LOGIN-1] the log shows how far a client came, once for each step, and says why a token was refused', async () => {
  await using server = await spawnServer([]);
  const headers = { 'user-agent': 'an-agent/1' };
  for (let time = 0; time < 3; time++) await fetch(`${server.url}/mcp`, { method: 'POST', headers });
  await fetch(`${server.url}${wellKnown}/mcp`, { headers });
  await fetch(`${server.url}/mcp`, { method: 'POST', headers: { ...headers, authorization: 'Bearer nonsense' } });
  const steps = () =>
    server.log
      .filter((line) => line.includes('"mcp login: '))
      .map((line) => {
        const { msg, agent, resource, reason } = JSON.parse(line) as Record<string, string>;
        return [msg, agent, resource, reason];
      });
  await untilSeen(() => steps().length >= 3);
  const resource = `${server.url}/mcp`;
  expect(steps()).toEqual([
    ['mcp login: asked to log in', 'an-agent/1', resource, undefined],
    ['mcp login: read the metadata of an address', 'an-agent/1', resource, undefined],
    ['mcp login: token refused', 'an-agent/1', resource, expect.stringContaining('This is not a token')],
  ]);
});

test('[LOGIN-1] in development the metadata names an authorization server of this server', async () => {
  const metadata = await discoverOAuthProtectedResourceMetadata(`${development.url}/mcp`);
  expect(metadata.authorization_servers?.map((one) => new URL(one).origin)).toEqual([development.url]);
});

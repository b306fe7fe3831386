import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLoginBrowser } from '../../src/cli/login/login-browser.ts';
import { loginClients } from '../../src/cli/login/login-clients.ts';
import { wayOutFor } from '../../src/cli/login/login-doctor.ts';
import { replayLogin } from '../../src/cli/login/replay-login.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { freshRealm, userPassword } from '../fixtures/keycloak-realm.ts';
import { part } from '../parts.ts';
import { startServerWithIssuer, startTestServer } from '../running-server.ts';
import { runToolcrib } from './run-toolcrib.ts';

interface Step {
  step: string;
  state: 'ok' | 'warning' | 'broken';
  detail: string;
  cure?: string;
}

async function doctor(address: string, ...more: string[]) {
  const { code, stdout, stderr } = await runToolcrib(['doctor', '--json', '--login', address, ...more]);
  expect(stderr).toBe('');
  const report = JSON.parse(stdout) as { ok: boolean; steps: Step[] };
  return { code, ...report, broken: report.steps.filter(({ state }) => state === 'broken') };
}

/** The same in this process. */
async function replay(address: string, name: keyof typeof loginClients = 'any', clientId?: string) {
  const url = new URL(address);
  const browser = createLoginBrowser(wayOutFor(url, {}));
  const steps = await replayLogin({ address: url, client: loginClients[name], fixedId: clientId, browser });
  return { steps, broken: steps.filter(({ state }) => state === 'broken') };
}

type Documents = Record<string, unknown>;
type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** What a fixture does otherwise than a server whose login works. */
interface World {
  resource?: Documents;
  server?: Documents;
  answers?: Record<string, Answer>;
  /** Of the address, in place of the usual one. */
  challenge?: string | null;
}

const json = (response: ServerResponse, status: number, value: unknown) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const page = (response: ServerResponse, status: number, text: string) =>
  void response.writeHead(status, { 'content-type': 'text/html' }).end(text);

/** A server with an address at /mcp and an authorization server at /login, which works but for what the world changes. */
async function startWorld({ resource = {}, server = {}, answers = {}, challenge }: World) {
  const asked: { method: string; url: URL; body: string; authorization: string | undefined }[] = [];
  const usual: Record<string, Answer> = {
    'POST /mcp': (_request, response) => {
      const metadata = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="mcp"`;
      response.writeHead(401, challenge === null ? {} : { 'www-authenticate': challenge ?? metadata }).end();
    },
    'GET /.well-known/oauth-protected-resource/mcp': (_request, response) =>
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [`${origin}/login`], ...filled(resource) }),
    'GET /.well-known/oauth-authorization-server/login': (_request, response) =>
      json(response, 200, {
        issuer: `${origin}/login`,
        authorization_endpoint: `${origin}/login/auth`,
        token_endpoint: `${origin}/login/token`,
        registration_endpoint: `${origin}/login/register`,
        scopes_supported: ['mcp'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        ...filled(server),
      }),
    'POST /login/register': (_request, response) =>
      json(response, 201, {
        client_id: 'registered',
        registration_client_uri: `${origin}/login/register/1`,
        registration_access_token: 't',
      }),
    'DELETE /login/register/1': (_request, response) => void response.writeHead(204).end(),
    'GET /login/auth': (_request, response) =>
      void response.writeHead(302, { location: '/login/page', 'set-cookie': 'visit=7; Path=/; HttpOnly' }).end(),
    'GET /login/page': (request, response) => page(response, request.headers.cookie === 'visit=7' ? 200 : 400, '<title>Sign in</title>'),
  };
  const filled = (value: Documents) => JSON.parse(JSON.stringify(value).replaceAll('{origin}', origin)) as Documents;
  const started = await startHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const url = new URL(request.url ?? '', origin);
      asked.push({ method: request.method ?? '', url, body, authorization: request.headers.authorization });
      const key = `${request.method} ${url.pathname}`;
      const answer = answers[key] ?? usual[key];
      if (answer === undefined) response.writeHead(404).end();
      else answer(request, response, body);
    });
  });
  const { origin } = started;
  return { ...started, asked, address: `${origin}/mcp` };
}

const back = (parameters: Record<string, string>): Answer => {
  return (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    const location = new URL(searchParams.get('redirect_uri') ?? '');
    for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
    response.writeHead(302, { location: location.href }).end();
  };
};
const says =
  (status: number, text: string): Answer =>
  (_request, response) =>
    page(response, status, text);

test('[LOGIN-6] doctor --login goes through a login that works, up to the sign-in page, and leaves no registration behind', async () => {
  await using world = await startWorld({});
  const { code, ok, steps } = await doctor(world.address);
  expect({ code, ok, states: new Set(steps.map(({ state }) => state)) }).toEqual({ code: 0, ok: true, states: new Set(['ok']) });
  expect(steps.map(({ step }) => step)).toEqual([
    'request without a token',
    'resource metadata',
    'resource',
    'authorization server',
    'authorization code',
    'PKCE',
    'issuer in the answer',
    'scopes',
    'client',
    'sign-in page',
  ]);
  expect(steps.at(-1)?.detail).toBe(`${world.origin}/login/page shows “Sign in”`);

  const authorization = world.asked.find(({ url }) => url.pathname === '/login/auth')?.url.searchParams;
  expect(Object.fromEntries(authorization ?? [])).toMatchObject({
    response_type: 'code',
    client_id: 'registered',
    redirect_uri: 'http://127.0.0.1:48271/callback',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    resource: world.address,
    scope: 'mcp',
  });
  expect(world.asked.at(-1)).toMatchObject({ method: 'DELETE', authorization: 'Bearer t' });
  expect(world.asked.map(({ method, url }) => `${method} ${url.pathname}`)).not.toContain('POST /login/token');
});

describe('[LOGIN-6] doctor --login names the broken step and its remedy:', () => {
  const cases: [
    name: string,
    world: World,
    step: string,
    detail: RegExp,
    cure: RegExp,
    client?: keyof typeof loginClients,
    clientId?: string,
  ][] = [
    ['no such address', { answers: { 'POST /mcp': says(404, '') } }, 'request without a token', /404/, /slash/],
    [
      'a redirect of the address',
      { answers: { 'POST /mcp': (_request, response) => void response.writeHead(308, { location: '/mcp/' }).end() } },
      'request without a token',
      /redirects to .*\/mcp\//,
      /give clients .*\/mcp\//,
    ],
    ['403 in place of 401', { answers: { 'POST /mcp': says(403, '') } }, 'request without a token', /403/, /answer 401/],
    ['a server that fails', { answers: { 'POST /mcp': says(500, '') } }, 'request without a token', /500/, /log/],
    [
      'metadata that is a web page',
      { answers: { 'GET /.well-known/oauth-protected-resource/mcp': says(200, '<h1>Hello</h1>') } },
      'resource metadata',
      /a web page/,
      /send requests/,
    ],
    [
      'metadata for members only',
      { answers: { 'GET /.well-known/oauth-protected-resource/mcp': says(401, '') } },
      'resource metadata',
      /401/,
      /to anybody/,
    ],
    [
      'no metadata at all',
      { challenge: null, answers: { 'GET /.well-known/oauth-protected-resource/mcp': says(404, '') } },
      'resource metadata',
      /no metadata at .*oauth-protected-resource\/mcp or at .*oauth-protected-resource$/,
      /RFC 9728/,
    ],
    ['no authorization server', { resource: { authorization_servers: [] } }, 'resource metadata', /authorization_servers/, /correct/],
    [
      'a resource with a slash',
      { resource: { resource: '{origin}/mcp/' } },
      'resource',
      /the resource is http.*\/mcp\/, but the client was given http.*\/mcp:/,
      /slash at the end: give clients http.*\/mcp\//,
    ],
    ['a resource with another host', { resource: { resource: 'https://inside.example.org/mcp' } }, 'resource', /inside/, /--public-url/],
    ['the whole server as the resource', { resource: { resource: '{origin}/' } }, 'resource', /stops here/, /name http.*\/mcp$/],
    [
      'the whole server as the resource, for a client that would take it, but not another address',
      { resource: { resource: '{origin}/other' } },
      'resource',
      /Cursor stops here/,
      /name http/,
      'cursor',
    ],
    [
      'an authorization server that is not there',
      { resource: { authorization_servers: ['{origin}/gone'] } },
      'authorization server',
      /tried .*oauth-authorization-server\/gone.*openid-configuration\/gone.*gone\/\.well-known\/openid-configuration/,
      /reached/,
    ],
    [
      'an issuer with a slash',
      { server: { issuer: '{origin}/login/' } },
      'authorization server',
      /names the issuer .*\/login\/, but the resource names .*\/login:/,
      /authorization_servers/,
    ],
    ['no sign-in at all', { server: { authorization_endpoint: null } }, 'authorization server', /authorization_endpoint/, /correct/],
    ['no code', { server: { response_types_supported: ['token'] } }, 'authorization code', /response type/, /sign-in page/],
    ['no PKCE', { server: { code_challenge_methods_supported: ['plain'] } }, 'PKCE', /only plain/, /S256/],
    [
      'registration for members only',
      { answers: { 'POST /login/register': says(403, '<p>Trusted hosts only</p>') } },
      'client',
      /\(403\): Trusted hosts only/,
      /--client-id/,
    ],
    [
      'a redirect address that is not allowed',
      { answers: { 'GET /login/auth': says(400, '<style>p {}</style><p>Invalid parameter: redirect_uri</p>') } },
      'sign-in page',
      /status 400: Invalid parameter: redirect_uri/,
      /any port/,
    ],
    [
      'a client that is not known',
      { answers: { 'GET /login/auth': says(400, 'Client not found') } },
      'sign-in page',
      /Client not found/,
      /does not know the client mine/,
      'any',
      'mine',
    ],
    [
      'a metadata document that cannot be fetched',
      { answers: { 'GET /login/auth': says(400, 'This login cannot go on') } },
      'sign-in page',
      /cannot go on/,
      /able to fetch https:\/\/agent\.example\.org\/client\.json/,
      'any',
      'https://agent.example.org/client.json',
    ],
    [
      'a resource that the authorization server does not know',
      { answers: { 'GET /login/auth': back({ error: 'invalid_target', error_description: 'who?' }) } },
      'sign-in page',
      /invalid_target \(who\?\)/,
      /RFC 8707/,
    ],
    ['a scope that is not known', { answers: { 'GET /login/auth': back({ error: 'invalid_scope' }) } }, 'sign-in page', /scope/, /add the/],
    [
      'a loop',
      { answers: { 'GET /login/auth': (_request, response) => void response.writeHead(302, { location: '/login/auth' }).end() } },
      'sign-in page',
      /more than 10 times/,
      /loop/,
    ],
    [
      'a redirect into the cloud',
      {
        answers: { 'GET /login/auth': (_request, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end() },
      },
      'sign-in page',
      /169\.254\.169\.254/,
      /./,
    ],
    [
      'a page that is none',
      { answers: { 'GET /login/auth': (_request, response) => json(response, 200, {}) } },
      'sign-in page',
      /no page/,
      /page/,
    ],
    ['an address that the cloud cannot reach', {}, 'reach', /vendor/, /public/, 'chatgpt'],
  ];

  test.each(cases)('%s', async (_name, world, step, detail, cure, client, clientId) => {
    await using started = await startWorld(world);
    const { broken, steps } = await replay(started.address, client, clientId);
    expect({ steps: broken.map((one) => one.step), last: steps.at(-1)?.state }).toEqual({ steps: [step], last: 'broken' });
    expect(broken[0]?.detail).toMatch(detail);
    expect(broken[0]?.cure).toMatch(cure);
  });
});

describe('[LOGIN-6] doctor --login goes on, with a warning, where clients do:', () => {
  const cases: [name: string, world: World, step: string][] = [
    ['a challenge without a place', { challenge: 'Bearer' }, 'request without a token'],
    ['no iss in answers', { server: { authorization_response_iss_parameter_supported: false } }, 'issuer in the answer'],
    ['no refresh', { server: { grant_types_supported: ['authorization_code'] } }, 'refresh'],
    ['a secret that is wanted', { server: { token_endpoint_auth_methods_supported: ['client_secret_basic'] } }, 'public clients'],
    ['a scope that is not listed', { server: { scopes_supported: ['openid'] } }, 'scopes'],
    [
      'a registration that stays',
      { answers: { 'POST /login/register': (_request, response) => json(response, 201, { client_id: 'x' }) } },
      'client',
    ],
    ['a registration that is not deleted', { answers: { 'DELETE /login/register/1': says(500, '') } }, 'client'],
  ];

  test.each(cases)('%s', async (_name, world, step) => {
    await using started = await startWorld(world);
    const { steps, broken } = await replay(started.address);
    const warnings = steps.filter(({ state }) => state === 'warning');
    expect({ broken, warnings: warnings.map((one) => one.step) }).toEqual({ broken: [], warnings: [step] });
    expect(warnings[0]?.cure).not.toBe('');
    expect(steps.some(({ step: name, state }) => name === 'sign-in page' && state === 'ok')).toBe(true);
  });
});

describe('[LOGIN-6] doctor --login looks where clients look:', () => {
  const away: Answer = says(404, '');
  const moved = (world: World, to: string): World => ({ ...world, answers: { ...world.answers, [to]: moving } });
  /** The metadata of the authorization server, in another place than usual. */
  const moving: Answer = (request, response) => {
    const origin = `http://${request.headers.host}`;
    const flow = { authorization_endpoint: `${origin}/login/auth`, token_endpoint: `${origin}/login/token` };
    json(response, 200, { issuer: `${origin}/login`, ...flow, code_challenge_methods_supported: ['S256'] });
  };
  const gone: World = { answers: { 'GET /.well-known/oauth-authorization-server/login': away } };
  const atRoot: Answer = (request, response) => {
    const origin = `http://${request.headers.host}`;
    json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [`${origin}/login`] });
  };
  const cases: [name: string, world: World, step: string, detail: RegExp, client?: keyof typeof loginClients][] = [
    ['the metadata of the address, without a challenge', { challenge: null }, 'resource metadata', /oauth-protected-resource\/mcp$/],
    [
      'the metadata of the root, where the address has none',
      {
        challenge: null,
        answers: { 'GET /.well-known/oauth-protected-resource/mcp': away, 'GET /.well-known/oauth-protected-resource': atRoot },
      },
      'resource metadata',
      /oauth-protected-resource$/,
    ],
    [
      'OpenID Connect with the path at its end',
      moved(gone, 'GET /.well-known/openid-configuration/login'),
      'authorization server',
      /openid-configuration\/login$/,
    ],
    [
      'OpenID Connect as it was first',
      moved(gone, 'GET /login/.well-known/openid-configuration'),
      'authorization server',
      /login\/\.well-known\/openid-configuration$/,
    ],
    [
      'the whole server as the resource, for a client that takes it',
      { resource: { resource: '{origin}/' } },
      'resource',
      /accepted by the client/,
      'cursor',
    ],
  ];

  test.each(cases)('%s', async (_name, world, step, detail, client) => {
    await using started = await startWorld(world);
    const { broken, steps } = await replay(started.address, client, 'mine');
    expect(broken).toEqual([]);
    expect(steps.find((one) => one.step === step && one.state === 'ok')?.detail).toMatch(detail);
    expect(steps.at(-1)).toMatchObject({ step: 'sign-in page', state: 'ok' });
  });
});

test('[LOGIN-6] doctor --login registers nothing where the client has a metadata document', async () => {
  await using world = await startWorld({ server: { client_id_metadata_document_supported: true } });
  const { ok } = await doctor(world.address, '--client', 'claude-code');
  expect(ok).toBe(true);
  const paths = world.asked.map(({ method, url }) => `${method} ${url.pathname}`);
  expect(paths).not.toContain('POST /login/register');
  const authorization = world.asked.find(({ url }) => url.pathname === '/login/auth')?.url.searchParams;
  expect(authorization?.get('client_id')).toBe('https://claude.ai/oauth/claude-code-client-metadata');
});

test('[LOGIN-6] the words of a server reach the terminal as plain text, on one line', async () => {
  const nasty = 'a\u001b[2Jb\u202ec\nd';
  await using world = await startWorld({ answers: { 'GET /login/auth': back({ error: 'x', error_description: nasty }) } });
  const { code, stdout } = await runToolcrib(['doctor', '--login', world.address]);
  expect(code).toBe(1);
  expect(stdout).toContain('✗ sign-in page: the authorization server sends the client away: x (abc d)');
  for (const hidden of ['\u001b', '\u202e']) expect(stdout).not.toContain(hidden);
  expect(stdout).toContain('\nThe login of a strict client is broken at the step marked ✗.\n');
});

test('[LOGIN-6] an endless answer ends at its limit', async () => {
  await using world = await startWorld({
    answers: {
      'GET /.well-known/oauth-protected-resource/mcp': (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const chunk = Buffer.alloc(65_536, ' ');
        const pump = () => {
          while (response.write(chunk));
        };
        response.on('drain', pump);
        pump();
      },
    },
  });
  const { broken } = await replay(world.address);
  expect(broken.map(({ step }) => step)).toEqual(['resource metadata']);
});

test.each([
  [['--login', 'no address'], /--login must be the address/],
  [['--login', 'https://user:secret@example.org/mcp'], /--login must be the address/],
  [['--login', 'https://example.org/mcp', '--client', 'nobody'], /--client must be one of any, claude-code/],
])('[LOGIN-6] doctor %j is refused with a reason', async (args, reason) => {
  const { code, stderr } = await runToolcrib(['doctor', ...args]);
  expect([code, reason.test(stderr)]).toEqual([2, true]);
});

describe('[LOGIN-6] our own door', () => {
  let served: Awaited<ReturnType<typeof startServerWithIssuer>>;
  let signIn: Awaited<ReturnType<typeof startHttpServer>>;
  beforeAll(async () => {
    served = await startServerWithIssuer({ mcpDoor: true });
    signIn = await startHttpServer((_request, response) => page(response, 200, '<title>Acme</title>'));
    const { issuer, answers } = served.issuer;
    answers.discovery = (_request, response) =>
      json(response, 200, {
        issuer,
        jwks_uri: `${issuer}/keys`,
        token_endpoint: `${issuer}/token`,
        authorization_endpoint: `${signIn.origin}/auth`,
        code_challenge_methods_supported: ['S256'],
      });
  });
  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    await signIn[Symbol.asyncDispose]();
  });

  test.each(['/mcp', '/mcp/no-such-group', '/mcp?mode=search'])('leads to the sign-in page from %s', async (path) => {
    const { broken, steps } = await replay(`${served.server.url}${path}`, 'any', 'mine');
    expect(broken).toEqual([]);
    expect(steps.at(-1)).toMatchObject({ step: 'sign-in page', detail: expect.stringContaining('Acme') });
  });

  test('under another name of the machine, is told apart from the address that it has', async () => {
    const { broken } = await replay(`${served.server.url.replace('127.0.0.1', 'localhost')}/mcp`, 'any', 'mine');
    expect(broken).toEqual([
      expect.objectContaining({ step: 'resource', cure: expect.stringContaining(`give clients ${served.server.url}/mcp`) }),
    ]);
  });

  test('with a slash at the end is no address', async () => {
    const { broken } = await replay(`${served.server.url}/mcp/`);
    expect(broken).toEqual([expect.objectContaining({ step: 'request without a token', detail: expect.stringContaining('404') })]);
  });
});

const keycloak = part('keycloak');
describe.skipIf(!keycloak.available)('[LOGIN-6] [LOGIN-2] with Keycloak as the authorization server', () => {
  const issuer = keycloak.available ? keycloak.url : '';

  test('the login is broken until the scope is there, and then leads to its sign-in page', async () => {
    await using realm = await freshRealm(issuer);
    await using server = await startTestServer({ issuers: [realm.config], mcpDoor: true });
    const address = `${server.url}/mcp`;
    // Keycloak lets hosts register that it trusts, and trusts none at first.
    const unknown = await replay(address);
    expect(unknown.broken).toEqual([expect.objectContaining({ step: 'client', cure: expect.stringContaining('--client-id') })]);

    const before = await replay(address, 'any', 'toolcrib-cli');
    expect(before.broken).toEqual([
      expect.objectContaining({
        step: 'sign-in page',
        detail: expect.stringContaining('invalid_scope'),
        cure: expect.stringContaining('scope'),
      }),
    ]);

    // As docs/login.md says.
    const mapper = { 'included.custom.audience': address, 'access.token.claim': 'true' };
    const audience = { name: 'door', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config: mapper };
    const scope = {
      name: 'mcp',
      protocol: 'openid-connect',
      protocolMappers: [audience],
      attributes: { 'include.in.token.scope': 'true' },
    };
    const created = await realm.administer('POST', '/client-scopes', scope);
    const scopeId = created.headers.get('location')?.split('/').at(-1);
    const found = (await (await realm.administer('GET', '/clients?clientId=toolcrib-cli')).json()) as { id: string }[];
    const [cli] = found;
    await realm.administer('PUT', `/clients/${cli?.id}/default-client-scopes/${scopeId}`);

    const after = await replay(address, 'any', 'toolcrib-cli');
    expect(after.broken).toEqual([]);
    expect(after.steps.at(-1)).toMatchObject({
      step: 'sign-in page',
      state: 'ok',
      detail: expect.stringContaining('/protocol/openid-connect/auth'),
    });

    // With nothing but this scope, a token is for this address and for nothing else.
    const only = { clientId: 'door-only', publicClient: true, directAccessGrantsEnabled: true, defaultClientScopes: ['basic', 'mcp'] };
    await realm.administer('POST', '/clients', { ...only, attributes: { 'access.token.header.type.rfc9068': 'true' } });
    const form = { grant_type: 'password', client_id: 'door-only', username: 'alice', password: userPassword };
    const response = await fetch(`${realm.issuer}/protocol/openid-connect/token`, { method: 'POST', body: new URLSearchParams(form) });
    const { access_token: token } = (await response.json()) as { access_token: string };
    expect(decodeJwt(token).aud).toBe(address);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const ask = async (path: string) => (await server.client(token).post(path, ping)).status;
    const rest = async () => (await server.client(token).get('/api/bff/tools')).status;
    for (let round = 0; round < 2; round++) {
      expect([await ask('/mcp'), await ask('/mcp?mode=search'), await ask('/mcp/other'), await rest()]).toEqual([200, 200, 401, 401]);
    }
  });
});

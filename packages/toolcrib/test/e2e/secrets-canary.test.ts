import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { codeOn } from '../fixtures/connect.ts';
import { documentedOperations } from '../fixtures/documented-operations.ts';
import { startOAuthServer } from '../fixtures/oauth-server.ts';
import { fixture, grantEverything } from '../fixtures/open-server.ts';
import { startRecordingUpstream } from '../fixtures/recording-upstream.ts';
import { exchangeClient, startTokenIssuer } from '../fixtures/token-issuer.ts';
import { startTraceCollector } from '../fixtures/trace-collector.ts';
import { adminClaims, spawnServer, temporaryDirectory, untilSeen } from '../running-server.ts';

/** Where a secret could turn up, and all that was seen there. */
interface Seen {
  answers: string[];
  log: string[];
  files: [name: string, bytes: Buffer][];
  traces: string;
  audit: string;
}

/** One for every kind of secret there is, by its kind. */
const canaries = new Map<string, string>();
function canary(kind: string): string {
  const value = `canary-${randomBytes(16).toString('hex')}`;
  canaries.set(kind, value);
  return value;
}

/** The tokens that callers come with are looked for by their signature: what is before it may be told. */
const signatureOf = (token: string) => token.split('.')[2] ?? '';

let seen: Seen;
/** The requests to the upstream, which must contain the secrets, or the test shows nothing. */
let upstreamSaw: string;
let environmentSaid: string;

beforeAll(async () => {
  const stack = new AsyncDisposableStack();
  const issuer = stack.use(await startTokenIssuer());
  const upstream = stack.use(await startRecordingUpstream());
  const oauth = stack.use(await startOAuthServer());
  const collector = stack.use(await startTraceCollector());
  const data = stack.use(await temporaryDirectory());
  const rules = { runtimes: ['node'], programs: fixture().slice(0, 2), variables: ['*'], same_user: true };
  const configured = [{ ...issuer.config, token_type: 'at+jwt' }];
  const options = ['--data', data.path, '--log-level', 'debug', '--otlp-endpoint', collector.url, '--allow-network', 'loopback'];
  const server = stack.use(
    await spawnServer([...options, '--run-rules', await written(data.path, rules)], {
      TOOLCRIB_ISSUERS: JSON.stringify(configured),
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${canary('header of the collector')}`,
    }),
  );
  const answers: string[] = [];
  const ask = async (client: ApiClient, method: string, path: string, body?: unknown) => {
    const reply = await client.request(method, path, body === undefined ? {} : { body });
    answers.push(reply.text, JSON.stringify([...reply.headers]));
    return reply;
  };
  const adminToken = await issuer.sign(adminClaims);
  const aliceToken = await issuer.sign({ sub: 'alice' });
  canaries.set("an administrator's token", signatureOf(adminToken));
  canaries.set("a caller's token", signatureOf(aliceToken));
  const admin = server.client(adminToken);
  const alice = server.client(aliceToken);
  await grantEverything(admin);

  // Every kind of secret, and for each a source that uses it.
  await ask(admin, 'PUT', '/api/secrets/stored', { value: canary('a stored secret') });
  oauth.addClient('robot', canary('a client secret'));
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  canaries.set('a private key', privateKey.split('\n')[1] ?? '');
  const client = { client_id: 'robot', client_secret: canaries.get('a client secret') };
  const tokenUrl = { token_url: `${oauth.issuer}/token` };
  const credentials: Record<string, object> = {
    'key-header': { type: 'api_key', name: 'X-Key', value: canary('a key in a header') },
    'key-query': { type: 'api_key', in: 'query', name: 'key', value: canary('a key in an address') },
    'key-cookie': { type: 'api_key', in: 'cookie', name: 'key', value: canary('a key in a cookie') },
    basic: { type: 'basic', username: 'me', password: canary('a password') },
    bearer: { type: 'bearer', token: canary('a bearer token') },
    client: { type: 'client_credentials', ...tokenUrl, ...client },
    signed: { type: 'client_credentials', ...tokenUrl, client_id: 'robot', private_key: privateKey },
    asserted: { type: 'jwt_bearer', ...tokenUrl, ...client, assertion: canary('an assertion') },
    connected: { type: 'oauth', authorization_server: oauth.issuer, ...client },
    exchanged: { type: 'token_exchange', audience: 'notes-api', ...exchangeClient },
    forwarded: { type: 'caller_token' },
  };
  canaries.set('the secret of the exchange', exchangeClient.client_secret);
  const perUser = new Set(['connected', 'exchanged', 'forwarded']);
  const headers = { 'X-Tenant-Token': canary('a header of a source') };
  for (const [namespace, credential] of Object.entries(credentials)) {
    const discovery = perUser.has(namespace) ? { discovery_credential: { type: 'none' } } : {};
    const form = { name: namespace, namespace, mcp_server_url: upstream.url, headers, credential, ...discovery };
    await ask(admin, 'POST', '/api/sources/preview?discover=true', form);
    await ask(admin, 'POST', '/api/sources?wait=20000', form);
    await ask(admin, 'PUT', `/api/sources/${namespace}/wire-log`, { enabled: true });
  }
  const local = {
    name: 'Local',
    namespace: 'local',
    mcp_command: fixture('tells-environment', '--api-key', canary('an argument')),
    mcp_env_vars: { TOKEN: { secret_ref: 'stored' }, ADDRESS: 'https://x.test/?k=${TOKEN}', OWN_SECRET: canary('a variable') },
  };
  await ask(admin, 'POST', '/api/sources?wait=30000', local);
  await ask(admin, 'PUT', '/api/sources/local/wire-log', { enabled: true });

  // A user connects, and everybody calls: what the servers say back has the secrets in it.
  const [{ redirect_uri: redirect }] = (await ask(alice, 'GET', '/api/connections')).json.connections;
  oauth.addClient('robot', client.client_secret ?? '', [redirect]);
  const begun = await ask(alice, 'POST', '/api/connections/connected');
  const back = await oauth.login(begun.json.authorization_url, 'alice');
  canaries.set('an authorization code', back.searchParams.get('code') ?? '');
  const page = await ask(alice, 'GET', `${back.pathname}${back.search}`);
  await ask(alice, 'POST', begun.json.redeem_url, { code: codeOn(page.text) });
  canaries.set("a user's own token", oauth.tokenOf('alice'));
  const call = (name: string, args: object = {}, more: object = {}) =>
    ask(alice, 'POST', '/api/bff/tools/call', { name, arguments: args, ...more });
  for (const namespace of Object.keys(credentials)) {
    await call(`${namespace}:repeat`);
    await call(`${namespace}:repeat_and_fail`);
  }
  for (const { headers: sent } of upstream.requests) {
    const token = sent.authorization?.split(' ')[1] ?? '';
    if (token.split('.').length === 3 && signatureOf(token) !== signatureOf(aliceToken))
      canaries.set('an exchanged token', signatureOf(token));
  }
  canaries.set("a source's own token", oauth.tokenOf('robot'));
  environmentSaid = (await call('local:environment')).text;
  await call('local:process');
  for (const name of ['TOKEN', 'ADDRESS', 'OWN_SECRET'])
    for (const say of ['stderr', 'fail', 'error', 'blocks', 'hex', 'base64', 'crash']) await call('local:environment', { name, say });
  // A caller who sends a secret gets it back, but it is stored nowhere.
  for (const kind of ['a stored secret', 'a variable', 'an argument']) {
    await alice.call('local:stderr', { text: `dying of ${canaries.get(kind)}` });
    await alice.call('local:fail', { text: `it is not ${canaries.get(kind)}` });
    await alice.call('local:crash', { code: 3, words: `with ${canaries.get(kind)}` });
  }
  // Failures that involve a secret.
  await ask(admin, 'POST', '/api/sources', `{"name": "x", "headers": {"X-Token": "${canary('a body that is no JSON')}"`);
  await ask(admin, 'POST', '/api/sources', { name: 'x', credential: { type: 'bearer', token: [canary('a value of the wrong kind')] } });
  await ask(server.client(`${aliceToken}x`), 'GET', '/api/bff/tools');
  await ask(alice, 'GET', `/api/bff/tools?token=${canary('a parameter that nobody reads')}`);
  // Arguments come back in answers, and are kept nowhere.
  await ask(admin, 'PUT', '/api/sources/local/wire-log', { enabled: false });
  await alice.call('local:echo', { text: canary('an argument of a call') });

  for (const { method, path, operationId } of await documentedOperations(server.url)) {
    if (method !== 'GET' || operationId === 'followTools') continue;
    for (const namespace of path.includes('{') ? [...Object.keys(credentials), 'local'] : ['']) {
      await ask(admin, method, path.replace(/\{\w+\}/, namespace));
    }
  }
  for (const namespace of [...Object.keys(credentials), 'local'])
    await ask(admin, 'GET', `/api/sources/${namespace}/logs?wire=true&lines=1000`);
  const audit = (await ask(admin, 'GET', '/api/audit')).text;
  server.child.kill('SIGTERM');
  await server.ended;
  await untilSeen(() => collector.spans.length > 0);
  const entries = (await readdir(data.path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const files = entries.map(async ({ parentPath, name }): Promise<[string, Buffer]> => [name, await readFile(join(parentPath, name))]);
  seen = { answers, log: server.log, files: await Promise.all(files), traces: JSON.stringify(collector.spans), audit };
  upstreamSaw = `${upstream.everything()}${JSON.stringify(collector.requests)}`;
  await stack.disposeAsync();
});

afterAll(() => canaries.clear());

async function written(folder: string, rules: object): Promise<string> {
  const { writeFile } = await import('node:fs/promises');
  const path = join(folder, '..', `${folder.split('/').at(-1)}-rules.yaml`);
  await writeFile(path, JSON.stringify(rules));
  return path;
}

const kinds = [
  'header of the collector',
  "an administrator's token",
  "a caller's token",
  'a stored secret',
  'a client secret',
  'a private key',
  'a key in a header',
  'a key in an address',
  'a key in a cookie',
  'a password',
  'a bearer token',
  'an assertion',
  'an authorization code',
  'the secret of the exchange',
  'a header of a source',
  'an argument',
  'a variable',
  "a user's own token",
  'an exchanged token',
  "a source's own token",
  'a body that is no JSON',
  'a value of the wrong kind',
  'a parameter that nobody reads',
  'an argument of a call',
];

describe('[ENV-4] [SEC-3] [SEC-4] no secret is found anywhere, in any encoding', () => {
  test('although every kind was there to be found', () => {
    expect([...canaries.keys()].toSorted()).toEqual(kinds.toSorted());
    const reached = [
      'header of the collector',
      'a key in a header',
      'a key in an address',
      'a key in a cookie',
      'a bearer token',
      'a header of a source',
      "a user's own token",
      'an exchanged token',
      "a source's own token",
      "a caller's token",
    ];
    expect(reached.filter((kind) => !upstreamSaw.includes(canaries.get(kind) ?? 'nothing'))).toEqual([]);
    expect(environmentSaid).toContain('TOKEN');
    expect(environmentSaid).toContain('***');
    expect([seen.answers.length > 100, seen.log.length > 20, seen.traces.length > 1000, seen.audit.split('\n').length > 20]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(seen.files.map(([name]) => name)).toEqual(expect.arrayContaining(['toolcrib.db', 'keys.json']));
  });

  test.each(kinds)('of the kind: %s', (kind) => {
    const value = canaries.get(kind) ?? '';
    expect(value.length).toBeGreaterThan(15);
    const forms = formsOf(value);
    const within = (texts: string[]) =>
      texts.filter((text) => forms.some((form) => text.includes(form))).map((text) => excerpt(text, forms));
    expect({
      answers: within(seen.answers),
      log: within(seen.log),
      traces: within([seen.traces]),
      audit: within([seen.audit]),
      files: seen.files.filter(([, bytes]) => forms.some((form) => bytes.includes(form))).map(([name]) => name),
    }).toEqual({ answers: [], log: [], traces: [], audit: [], files: [] });
  });
});

/** As it is, escaped for an address or JSON, and in base64 wherever it begins in the bytes that are encoded. */
function formsOf(value: string): string[] {
  const encoded = [0, 1, 2].map((shift) => {
    const text = Buffer.from(`${'x'.repeat(shift)}${value}`).toString('base64');
    // The first and last characters depend on what stands beside it.
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  return [...new Set([value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), ...encoded])];
}

function excerpt(text: string, forms: string[]): string {
  const at = Math.min(...forms.map((form) => text.indexOf(form)).filter((place) => place >= 0));
  return text.slice(Math.max(0, at - 200), at + 80);
}

import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRawAnswer, sendRaw } from '../fixtures/raw-connection.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer({
    allowedHosts: ['crib.example.org', 'crib.example.net:8443'],
    allowedOrigins: ['https://console.example.org'],
  });
  token = (await server.as('alice')).token ?? '';
});
afterAll(() => server[Symbol.asyncDispose]());

async function ask(path: string, headers: string[], method = 'GET') {
  const lines = [`${method} ${path} HTTP/1.1`, `Authorization: Bearer ${token}`, 'Connection: close', ...headers, '', ''];
  return sendRaw(server.url, lines.join('\r\n'));
}

async function statusFor(path: string, ...headers: string[]): Promise<number> {
  return Number((await ask(path, headers)).split(' ')[1]);
}

test.for([
  'evil.test',
  'evil.test:7300',
  '127.0.0.1.evil.test',
  'localhost.evil.test',
  'evil.test#@127.0.0.1',
  'evil.test/127.0.0.1',
  '127.0.0.1@evil.test',
  'crib.example.net',
  'crib.example.net:8444',
  'xcrib.example.org',
  '',
  '[::1',
])('a page that made the name %j point to this machine is refused', async (host) => {
  const { status, body } = readRawAnswer(await ask('/api/bff/tools', [`Host: ${host}`]));
  expect({ status, body }).toEqual({ status: 403, body: { code: 'FORBIDDEN', message: expect.stringContaining('--allowed-host') } });
});

test('a request without a Host is refused', async () => {
  expect(readRawAnswer(await ask('/api/bff/tools', []))).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
});

test('the guard covers every route, unknown ones, the document and the development issuer too', async () => {
  for (const path of ['/nowhere', '/api/openapi.json', '/metrics', '/dev/jwks', '/api/groups']) {
    expect([path, await statusFor(path, 'Host: evil.test')]).toEqual([path, 403]);
  }
  const stolen = await ask('/dev/token', ['Host: evil.test', 'Content-Length: 0'], 'POST');
  expect(stolen).toMatch(/^HTTP\/1.1 403 /);
});

test.for([
  '127.0.0.1',
  'localhost',
  'LOCALHOST:1',
  '[::1]:80',
  '127.0.0.2',
  'crib.example.org',
  'Crib.Example.Org:443',
  'crib.example.net:8443',
])('the server answers under the name %s', async (host) => {
  expect(await statusFor('/api/bff/tools', `Host: ${host}`)).toBe(200);
});

test('a load balancer may check health under any name', async () => {
  expect(await statusFor('/healthz', 'Host: 10.0.0.7')).toBe(200);
  expect(await statusFor('/readyz', 'Host: pool.internal')).toBe(200);
  expect(await statusFor('/healthz')).toBe(200);
});

test.for([
  'http://evil.test',
  'null',
  'https://console.example.org.evil.test',
  'https://console.example.org:444',
  'file://',
  'http://127.0.0.1:1',
])('a page of the origin %s is refused', async (origin) => {
  const answer = await ask('/api/bff/tools', ['Host: 127.0.0.1', `Origin: ${origin}`]);
  expect(readRawAnswer(answer)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  expect(answer.toLowerCase()).not.toContain('access-control-allow');
});

test('a page of this server itself is answered', async () => {
  const { host } = new URL(server.url);
  expect(await statusFor('/api/bff/tools', `Host: ${host}`, `Origin: http://${host}`)).toBe(200);
});

test('a page of an allowed origin can read the answer, also of a stream', async () => {
  const origin = 'Origin: https://console.example.org';
  const allowed = 'access-control-allow-origin: https://console.example.org';
  const preflight = await ask('/api/bff/tools/call', ['Host: 127.0.0.1', origin, 'Access-Control-Request-Method: POST'], 'OPTIONS');
  expect(preflight).toMatch(/^HTTP\/1.1 204 /);
  expect(preflight).toContain(allowed);
  expect(preflight).toMatch(/access-control-allow-headers: .*Authorization.*Idempotency-Key/);
  expect(preflight).not.toContain('allow-credentials');

  const listed = await ask('/api/bff/tools', ['Host: 127.0.0.1', origin]);
  expect(listed).toMatch(/^HTTP\/1.1 200 /);
  expect(listed).toContain(allowed);
  expect(listed).toMatch(/vary: .*Origin/);
  const refused = await ask('/api/groups', ['Host: 127.0.0.1', origin]);
  expect(refused).toMatch(/^HTTP\/1.1 403 /);
  expect(refused).toContain(allowed);
  await using stream = await server.client(token).follow({ origin: 'https://console.example.org' });
  expect(stream.response.headers.get('access-control-allow-origin')).toBe('https://console.example.org');
});

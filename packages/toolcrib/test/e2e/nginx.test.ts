import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { readBlocks } from '../pages/read-page.ts';
import { part } from '../parts.ts';
import { adminClaims, grantBuiltinTools, startTestServer, temporaryDirectory, type TestServer, until } from '../running-server.ts';

const nginx = part('nginx');
const openssl = part('openssl');

/** Another address of this machine than the proxy's own, as callers elsewhere have. */
const callersAddress = '127.0.0.2';

describe.skipIf(!nginx.available || !openssl.available)('behind nginx as in docs/running.md', () => {
  const opened = new AsyncDisposableStack();
  let server: TestServer;
  let port: number;
  let token: string;

  beforeAll(async () => {
    const issuer = opened.use(await startTokenIssuer());
    server = opened.use(
      await startTestServer({ issuers: [issuer.config], publicUrl: 'https://tools.example.com', trustedProxies: ['127.0.0.1'] }),
    );
    token = await issuer.sign(adminClaims);
    await grantBuiltinTools(server.client(token));
    const folder = opened.use(await temporaryDirectory());
    port = await freePort('127.0.0.1');
    const proxy = await startNginx(folder.path, port, new URL(server.url).port);
    opened.defer(async () => {
      proxy.kill('SIGTERM');
      await once(proxy, 'exit');
    });
  });
  afterAll(() => opened.disposeAsync());

  /** As somebody elsewhere would ask for https://tools.example.com. */
  function ask(
    path: string,
    { method = 'GET', body, headers = {} }: { method?: string; body?: string; headers?: Record<string, string> } = {},
  ) {
    const sent = request({
      host: '127.0.0.1',
      port,
      localAddress: callersAddress,
      path,
      method,
      rejectUnauthorized: false,
      agent: false,
      headers: { host: 'tools.example.com', authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    });
    sent.end(body);
    return once(sent, 'response').then(([response]) => response as IncomingMessage);
  }

  async function jsonOf(response: Awaited<ReturnType<typeof ask>>): Promise<Record<string, unknown>> {
    return JSON.parse((await response.toArray()).join('')) as Record<string, unknown>;
  }

  test('calls work over TLS', async () => {
    const body = JSON.stringify({ name: 'builtin:calculator', arguments: { expression: '6 * 7' } });
    expect(await jsonOf(await ask('/api/bff/tools/call', { method: 'POST', body }))).toMatchObject({ success: true, text: '42' });
  });

  test('events arrive at once and are not buffered until the stream ends', async () => {
    const stream = await ask('/api/bff/sse', { headers: { accept: 'text/event-stream' } });
    const [first] = (await once(stream.setEncoding('utf8'), 'data')) as [string];
    expect(first).toContain('event: connected');
    stream.destroy();
  });

  test('[SEC-4] the record has the address of the caller, not of the proxy, and not a forged one', async () => {
    const refused = await ask('/api/me', { headers: { authorization: 'Bearer no.token.at-all', 'x-forwarded-for': '203.0.113.7' } });
    expect(refused.statusCode).toBe(401);
    refused.resume();
    const addresses = async () =>
      ((await server.client(token).get('/api/refusals')).json.refusals as { address: string }[]).map(({ address }) => address);
    await until(async () => (await addresses()).includes(callersAddress));
    expect(await addresses()).not.toContain('203.0.113.7');
  });
});

async function startNginx(folder: string, port: number, upstream: string): Promise<ChildProcess> {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=tools.example.com', '-days', '1'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...subject, ...files], {
    stdio: 'ignore',
  });
  const site = readBlocks('docs/running.md').find(({ kind }) => kind === 'nginx')?.text ?? '';
  const here = site
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/tools.example.com.pem', certificate)
    .replace('/etc/ssl/tools.example.com.key', key)
    .replace('127.0.0.1:7300', `127.0.0.1:${upstream}`);
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n');
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `pid ${join(folder, 'pid')};\nevents {}\nhttp {\naccess_log off;\n${own}\n${here}\n}\n`);
  const child = spawn('nginx', ['-p', folder, '-c', file, '-g', 'daemon off;', '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
    return await accepts(port);
  });
  return child;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

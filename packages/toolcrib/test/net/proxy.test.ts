import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEgress, type Egress, type EgressConfig } from '../../src/net/egress.ts';
import { createProxy } from '../../src/net/proxy.ts';
import { readBody } from '../../src/net/read-body.ts';
import { readCertificates } from '../../src/net/read-certificates.ts';
import { makeCertificates } from '../fixtures/certificates.ts';
import { startForwardProxy } from '../fixtures/forward-proxy.ts';
import { startHttpServer, type RunningServer } from '../fixtures/http-server.ts';
import { part } from '../parts.ts';

const limits = { maxBytes: 1000, timeoutMs: 20_000, allowInsecure: true };

/** In every way there is: what came, or why nothing did. */
async function ask(egress: Egress, url: string): Promise<string[]> {
  const target = new URL(url);
  const client = egress.httpClient({ origin: target.origin });
  const asked = [
    egress.fetchDocument(url, limits).then(({ body }) => body),
    client
      .request({ method: 'POST', url: target, headers: { 'x-own': 'yes' }, body: 'hello' })
      .then((response) => readBody(response, 1000)),
    egress
      .guardedFetch({ allowInsecure: true, allowLoopback: true })(url)
      .then((response) => response.text()),
  ];
  const failed = (error: unknown) => (error instanceof TypeError ? (error.cause as Error) : (error as Error)).message;
  const answers = await Promise.all(asked.map((answer) => answer.catch(failed)));
  await client.destroy();
  return answers;
}

const three = (text: string) => Array<string>(3).fill(text);

describe('a proxy', () => {
  let upstream: RunningServer;
  beforeAll(async () => {
    upstream = await startHttpServer((request, response) => {
      response.end(`${request.headers.host}${request.url}`);
    });
  });
  afterAll(() => upstream[Symbol.asyncDispose]());

  test('[SEC-1] gets plain requests with the whole address', async () => {
    await using proxy = await startForwardProxy();
    const host = `mcp.test:${upstream.port}`;
    expect(await ask(createEgress({ proxy: proxy.url }), `http://${host}/a?b=c`)).toEqual(three(`${host}/a?b=c`));
    expect(proxy.seen.toSorted()).toEqual([`GET http://${host}/a?b=c`, `GET http://${host}/a?b=c`, `POST http://${host}/a?b=c`]);
  });

  test('[SEC-1] gets our credentials, and its refusal says what to check but not the password', async () => {
    await using proxy = await startForwardProxy({ user: 'me@corp:p@ss word' });
    const url = `http://mcp.test:${upstream.port}/`;
    const withUser = proxy.url.replace('http://', 'http://me%40corp:p%40ss%20word@');
    expect(await ask(createEgress({ proxy: withUser }), url)).toEqual(three(`mcp.test:${upstream.port}/`));
    const wrong = proxy.url.replace('http://', 'http://me:hidden@');
    for (const scheme of ['http', 'https']) {
      for (const reason of await ask(createEgress({ proxy: wrong }), url.replace('http', scheme))) {
        expect(reason).toMatch(/The proxy 127\.0\.0\.1:\d+ does not let us through: it wants a user name and password.*check --proxy/);
        expect(reason).not.toContain('hidden');
      }
    }
  });

  test('[SEC-1] is bypassed for this machine, and for exceptions', async () => {
    await using proxy = await startForwardProxy();
    const known = { mcp: '127.0.0.1' };
    const lookUp: EgressConfig['lookUp'] = (_name, _options, callback) => callback(null, [{ address: known.mcp, family: 4 }]);
    const egress = createEgress({ proxy: proxy.url, noProxy: ['.test'], allowedNetworks: ['loopback'], lookUp });
    for (const host of ['127.0.0.1', 'localhost', 'mcp.test']) {
      expect(await ask(egress, `http://${host}:${upstream.port}/`)).toEqual(three(`${host}:${upstream.port}/`));
    }
    expect(proxy.seen).toEqual([]);
  });

  test.each<[string, Partial<EgressConfig>, RegExp]>([
    ['10.1.2.3', {}, /is a private address/],
    ['169.254.169.254', { allowedNetworks: ['0.0.0.0/0'] }, /metadata service/],
    ['metadata.google.internal', {}, /metadata service/],
    [
      'here.test',
      { lookUp: (_name, _options, callback) => callback(null, [{ address: '10.1.2.3', family: 4 }]) },
      /leads to a private address/,
    ],
  ])('[SEC-1] is not used for %s, which is forbidden', async (host, config, reason) => {
    await using proxy = await startForwardProxy();
    for (const scheme of ['http', 'https']) {
      for (const refusal of await ask(createEgress({ ...config, proxy: proxy.url }), `${scheme}://${host}:${upstream.port}/`)) {
        expect(refusal).toMatch(reason);
      }
    }
    expect(proxy.seen).toEqual([]);
  });

  test('[SEC-1] that cannot be reached is named in the error', async () => {
    const proxy = await startForwardProxy();
    await proxy[Symbol.asyncDispose]();
    for (const scheme of ['http', 'https']) {
      for (const reason of await ask(createEgress({ proxy: proxy.url }), `${scheme}://mcp.test/`)) {
        expect(reason).toMatch(/The proxy 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/);
      }
    }
  });

  test.each(['', 'proxy:3128', 'socks5://me:hidden@proxy', 'http://me:hidden@proxy/path', 'http://'])('cannot be %j', (address) => {
    expect(() => createProxy(address, [])).toThrow(/must be an address such as http:\/\/proxy/);
  });

  test.each<[noProxy: string[], url: string, bypassed: boolean]>([
    [[], 'https://example.org', false],
    [[], 'http://localhost:3000', true],
    [[], 'http://[::1]', true],
    [['*'], 'https://example.org', true],
    [['example.org'], 'https://example.org', true],
    [['Example.org'], 'https://a.example.org.', true],
    [['.example.org', '*.example.com'], 'https://a.example.com', true],
    [['example.org'], 'https://notexample.org', false],
    [['example.org:8080'], 'https://example.org', false],
    [['example.org:443'], 'https://example.org', true],
    [['10.1.2.3'], 'https://10.1.2.3', true],
    [['10.0.0.0/8'], 'https://10.1.2.3', true],
    [['10.0.0.0/8'], 'https://11.1.2.3', false],
    [['fd00::1'], 'https://[fd00::1]', true],
    [['', ' '], 'https://example.org', false],
  ])('with the exceptions %j is bypassed for %s: %s', (noProxy, url, bypassed) => {
    expect(createProxy('http://proxy:3128', noProxy).bypassed(new URL(url))).toBe(bypassed);
  });
});

const openssl = part('openssl');
describe.skipIf(!openssl.available)('a company with its own certificates', () => {
  let made: Awaited<ReturnType<typeof makeCertificates>>;
  let port: number;
  const server = { close: () => undefined as void };

  beforeAll(async () => {
    made = await makeCertificates(openssl.available ? openssl.url : '', ['DNS:mcp.test', 'IP:127.0.0.1']);
    const listening = createServer({ key: made.key, cert: made.cert }, (request, response) => response.end(request.headers.host)).listen(0);
    await once(listening, 'listening');
    ({ port } = listening.address() as AddressInfo);
    server.close = () => {
      listening.closeAllConnections();
      listening.close();
    };
  });
  afterAll(async () => {
    server.close();
    await made[Symbol.asyncDispose]();
  });

  test('[SEC-1] is trusted if the operator says so, and not otherwise', async () => {
    const allowedNetworks = ['loopback'];
    const url = `https://127.0.0.1:${port}/`;
    for (const reason of await ask(createEgress({ allowedNetworks }), url))
      expect(reason).toMatch(/certificate cannot be verified|self-signed/);
    expect(await ask(createEgress({ allowedNetworks, caFile: made.caFile }), url)).toEqual(three(`127.0.0.1:${port}`));
  });

  test('[SEC-1] is reached through a tunnel, of which the proxy sees only the name', async () => {
    await using proxy = await startForwardProxy({ user: 'me:secret' });
    const egress = createEgress({ proxy: proxy.url.replace('//', '//me:secret@'), caFile: made.caFile });
    expect(await ask(egress, `https://mcp.test:${port}/hidden`)).toEqual(three(`mcp.test:${port}`));
    expect(proxy.seen).toEqual(three(`CONNECT mcp.test:${port}`));
    for (const reason of await ask(egress, `https://other.test:${port}/`)) expect(reason).toContain('its certificate is for another host');
  });

  test('can give its certificates in one file, and an unreadable file is reported', async () => {
    expect(readCertificates(made.caFile)).toHaveLength(1);
    const file = join(made.folder, 'odd.pem');
    await writeFile(file, `Two of them\n${made.cert.toString()}\n${made.cert.toString()}`);
    expect(readCertificates(file)).toHaveLength(2);
    for (const text of ['', 'nothing', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', made.key.toString()]) {
      await writeFile(file, text);
      expect(() => readCertificates(file)).toThrow(/odd\.pem cannot be used/);
    }
    expect(() => createEgress({ caFile: join(made.folder, 'nowhere.pem') })).toThrow(/nowhere\.pem cannot be used/);
  });
});

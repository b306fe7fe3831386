import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeCertificates } from '../fixtures/certificates.ts';
import { part } from '../parts.ts';
import { startDevelopmentBridge, type DevelopmentBridge } from './development-bridge.ts';
import { Person } from './person.ts';
import { callback, codeIn, PublicClient } from './public-client.ts';
import { SdkClient } from './sdk-client.ts';

const openssl = part('openssl');

describe.skipIf(!openssl.available)('clients whose id is the address of a document', () => {
  let certificates: Awaited<ReturnType<typeof makeCertificates>>;
  let bridge: DevelopmentBridge;
  let origin: string;
  let answer: RequestListener;
  let asked: string[];
  const site = { close: async () => {} };

  beforeAll(async () => {
    certificates = await makeCertificates(openssl.available ? openssl.url : '', ['DNS:localhost', 'IP:127.0.0.1']);
    const server = createServer({ key: certificates.key, cert: certificates.cert }, (request, response) => {
      asked.push(request.url ?? '');
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    site.close = async () => void (server.closeAllConnections(), server.close());
    bridge = await startDevelopmentBridge({ caFile: certificates.caFile });
  });
  beforeEach(() => void (asked = []));
  afterAll(async () => {
    await bridge?.[Symbol.asyncDispose]();
    await site.close();
    await certificates?.[Symbol.asyncDispose]();
  });

  let count = 0;
  /** An address that nobody has asked for yet. */
  const newId = () => `${origin}/clients/${++count}.json`;
  const good = (id: string, more: object = {}) => ({
    client_id: id,
    client_name: 'A published client',
    redirect_uris: [callback],
    ...more,
  });
  const serve =
    (body: unknown, { status = 200, type = 'application/json' } = {}): RequestListener =>
    (_request, response) =>
      void response.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body));
  const open = (id: string, person = new Person(callback)) => person.open(new PublicClient(bridge.url, id).loginUrl());

  test('[LOGIN-3] the official SDK logs in with such a client, and the page says where it is described', async () => {
    const document = newId();
    answer = serve(good(document, { client_name: 'An SDK client', token_endpoint_auth_method: 'none' }));
    const sdk = new SdkClient(`${bridge.url}/mcp`, { document });
    const person = new Person(callback);
    await sdk.logIn(person, (page) => {
      expect(page.text).toContain(`It is described at <strong>${new URL(origin).host}</strong>`);
      expect(page.text).toContain('Any program on your computer could say that it is this one');
      return bridge.allow(person, page);
    });
    await using client = await sdk.connect();
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    expect(asked).toHaveLength(1);
  });

  const hostile: [string, (id: string) => RequestListener][] = [
    ['is about another client', () => serve(good('https://other.example/client.json'))],
    ['is huge', (id) => serve(good(id, { padding: 'x'.repeat(100_000) }))],
    ['redirects', () => (_request, response) => void response.writeHead(302, { location: '/elsewhere.json' }).end()],
    ['is a page', (id) => serve(good(id), { type: 'text/html' })],
    ['is no JSON', () => serve('{')],
    ['is a list', () => serve([])],
    ['is not there', () => serve({}, { status: 404 })],
    ['has a secret', (id) => serve(good(id, { client_secret: 'x' }))],
    ['wants people sent to plain http', (id) => serve(good(id, { redirect_uris: [callback, 'http://evil.example/'] }))],
    ['wants people sent to a script', (id) => serve(good(id, { redirect_uris: ['javascript:alert(1)'] }))],
    ['has no address to send people to', (id) => serve({ ...good(id), redirect_uris: [] })],
    ['never ends', () => (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"a":"')],
  ];
  test.each(hostile)('[LOGIN-3] a document that %s makes no client', async (_what, listener) => {
    const id = newId();
    answer = listener(id);
    expect(await open(id)).toMatchObject({
      status: 400,
      text: expect.stringContaining('is not known, or what it says about itself cannot be used'),
    });
    expect(asked).toHaveLength(1);
  });

  const elsewhere = [
    'https://10.0.0.1/c.json',
    'https://169.254.169.254/c.json',
    'https://[::ffff:10.0.0.1]/c.json',
    'https://0.0.0.0/c.json',
  ];
  test.each([
    ...elsewhere,
    'https://localhost/c.json',
    'https://127.0.0.1/c.json',
    'http://localhost/c.json',
    'https://user@localhost/c.json',
    'https://localhost/../c.json',
  ])('[LOGIN-3] with an issuer, nothing is fetched from %s', async (id) => {
    const { createEgress } = await import('../../src/net/egress.ts');
    const { createClientDocuments } = await import('../../src/login-bridge/client-documents.ts');
    const nothing = { get: async () => undefined, put: async () => {}, delete: async () => {}, count: async () => 0 };
    const egress = createEgress({ allowedNetworks: [] });
    const fetchDocument = createClientDocuments({
      fetchDocument: egress.fetchDocument,
      records: nothing as never,
      now: Date.now,
      warn: () => {},
    });
    await expect(fetchDocument(id)).rejects.toMatchObject({ name: 'CribError' });
    expect(asked).toEqual([]);
  });

  test('[LOGIN-3] a document that cannot be fetched for a while logs nobody out, and one that was withdrawn does', async () => {
    const { createClientDocuments } = await import('../../src/login-bridge/client-documents.ts');
    const { createStore } = await import('../../src/store/store.ts');
    const { openDatabase } = await import('../../src/store/open-database.ts');
    await using database = await openDatabase({ file: `${certificates.folder}/documents` });
    const { loginRecords: records } = createStore(database);
    const id = 'https://client.example/client.json';
    let next: () => { status: number; body: string } = () => ({ status: 200, body: JSON.stringify(good(id)) });
    let now = Date.now();
    const fetchOne = async () => ({ ...next(), contentType: 'application/json', url: new URL(id) });
    const fetchDocument = createClientDocuments({ fetchDocument: fetchOne, records, now: () => (now += 10_000), warn: () => {} });
    const read = async () => (await fetchDocument(id)).json();
    expect(await read()).toMatchObject({ redirect_uris: [callback] });
    next = () => ({ status: 503, body: '' });
    expect(await read()).toMatchObject({ redirect_uris: [callback] });
    next = () => {
      throw new Error('the network is gone');
    };
    expect(await read()).toMatchObject({ redirect_uris: [callback] });
    next = () => ({ status: 200, body: JSON.stringify(good(id, { redirect_uris: ['https://client.example/other'] })) });
    expect(await read()).toMatchObject({ redirect_uris: ['https://client.example/other'] });
    next = () => ({ status: 404, body: '' });
    await expect(read()).rejects.toThrow('404');
    next = () => ({ status: 503, body: '' });
    await expect(read()).rejects.toThrow('503');
  });

  test('[LOGIN-3] a document that changes cannot send the code of a login under way elsewhere', async () => {
    const id = newId();
    answer = serve(good(id));
    const client = new PublicClient(bridge.url, id);
    const person = new Person(callback);
    const page = await person.open(client.loginUrl());
    answer = serve(good(id, { redirect_uris: ['https://evil.example/'] }));
    const code = codeIn(await bridge.allow(person, page));
    expect(await client.redeem(code, { redirect_uri: 'https://evil.example/' })).toMatchObject({
      status: 400,
      json: { error: 'invalid_grant' },
    });
  });
});

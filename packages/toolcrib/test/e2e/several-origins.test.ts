import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookPaths, documentOf, operation, startDocumentService } from '../fixtures/document-service.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { until } from '../running-server.ts';

let server: OpenServer;
beforeAll(async () => {
  server = await startOpenServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const credential = { type: 'bearer', token: 'a-secret-token' };
let count = 0;
const formOf = (openapi: object, more: object = {}) => ({
  name: 'Shelf',
  namespace: `several-${++count}`,
  source_type: 'openapi',
  openapi,
  ...more,
});
const register = async (form: object) => (await server.admin.post('/api/sources?wait=20000', form)).json;
const settled = (path: string) =>
  until(async () => {
    const { json } = await server.admin.get(path);
    return json.status.state !== 'starting' && json.status.state !== 'stopped' && json;
  });

/** A service whose document has one operation at another one. */
async function startTwo() {
  const other = await startDocumentService(null);
  const elsewhere = { '/other': { servers: [{ url: other.origin }], get: operation('elsewhere') } };
  const service = await startDocumentService(documentOf({ ...bookPaths, ...elsewhere }));
  return {
    service,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([service[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
    },
  };
}

test('[SEC-1] a credential is sent to none of several origins until the registration says to which', async () => {
  await using both = await startTwo();
  const { service, other } = both;
  const form = formOf({ url: service.url }, { credential });
  const held = { code: 'VALIDATION_ERROR', message: expect.stringContaining(`several origins: ${service.origin}, ${other.origin}.`) };
  const { json: seen } = await server.admin.post('/api/sources/preview?discover=true', form);
  expect(seen).toMatchObject({ error: { ...held, field: 'openapi.origins' }, import: { servers: [service.origin, other.origin] } });
  expect(seen.tools).toHaveLength(5);
  const { id, status } = await register(form);
  expect(status).toEqual({ state: 'error', ...held });
  const path = `/api/sources/${id}`;
  const call = async (name: string) => (await server.alice.call(`${form.namespace}:${name}`)).json.status;
  expect(await call('listBooks')).not.toBe('completed');

  const confirmed = { ...form, openapi: { url: service.url, origins: [service.origin] } };
  const unknown = { ...confirmed, credential: { type: 'bearer', token: '***' } };
  expect((await server.admin.put(path, unknown)).json).toMatchObject({ code: 'VALIDATION_ERROR', field: 'credential.token' });
  expect((await server.admin.put(path, confirmed)).status).toBe(200);
  expect(await settled(path)).toMatchObject({
    status: { state: 'running', tools: 4 },
    import: { skipped: [{ operation: 'GET /other', reason: expect.stringContaining('not one of the origins of this source') }] },
  });
  expect([await call('listBooks'), await call('elsewhere')]).toEqual(['completed', undefined]);

  await server.admin.put(path, { ...form, openapi: { url: service.url, origins: [service.origin, `${other.origin}/`] } });
  expect(await settled(path)).toMatchObject({ status: { state: 'running', tools: 5 } });
  expect(await call('elsewhere')).toBe('completed');
  for (const { seen: requests } of [service, other])
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a-secret-token']);
});

test('[SEC-1] a credential that is given later, or a header, is not sent to several origins either', async () => {
  await using both = await startTwo();
  const { service, other } = both;
  const form = formOf({ url: service.url });
  const { id, status } = await register(form);
  expect(status).toEqual({ state: 'running', tools: 5 });
  const path = `/api/sources/${id}`;
  for (const more of [{ credential }, { headers: { 'X-Api-Key': 'a-secret-key' } }]) {
    await server.admin.put(path, { ...form, ...more });
    await until(async () => /several origins/.test((await server.admin.get(path)).json.status.message ?? ''));
    for (const name of ['listBooks', 'elsewhere']) {
      const { json } = await server.alice.call(`${form.namespace}:${name}`);
      expect(json.status).not.toBe('completed');
    }
  }
  expect([...service.seen, ...other.seen]).toEqual([]);
});

test('[SRC-10] the list of origins accepts nothing but origins', async () => {
  for (const origin of ['https://a.example/v1', 'a.example', 'https://169.254.169.254']) {
    const { json } = await server.admin.post('/api/sources', formOf({ text: '{}', origins: [origin] }));
    expect(json).toMatchObject({ code: 'VALIDATION_ERROR', field: 'openapi.origins' });
  }
});

test('[SEC-1] servers that are never called are named at the import', async () => {
  const paths = Object.fromEntries(
    ['http://169.254.169.254/latest', 'http://metadata.google.internal', 'http://[fd00:ec2::254]', 'https://api.example.org'].map(
      (url, index) => [`/p${index}`, { servers: [{ url }], get: operation(`op${index}`) }],
    ),
  );
  const { import: report } = await register(formOf({ text: JSON.stringify(documentOf(paths)) }));
  expect(report.warnings.map(({ message }: { message: string }) => message)).toEqual([
    expect.stringMatching(/^The tools at http:\/\/169\.254\.169\.254 cannot be called: .*metadata service/),
    expect.stringMatching(/^The tools at http:\/\/metadata\.google\.internal cannot be called: .*metadata service/),
    expect.stringMatching(/^The tools at http:\/\/\[fd00:ec2::254\] cannot be called: .*metadata service/),
  ]);
});

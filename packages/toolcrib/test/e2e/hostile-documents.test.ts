import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { documentOf, operation } from '../fixtures/document-service.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { adminClaims, startServerWithIssuer, until, untilSeen } from '../running-server.ts';

let setting: Awaited<ReturnType<typeof startServerWithIssuer>>;
let admin: ApiClient;
beforeAll(async () => {
  setting = await startServerWithIssuer();
  admin = await setting.signedIn(adminClaims);
});
afterAll(() => setting[Symbol.asyncDispose]());

const formOf = (name: string, openapi: object, startupTimeoutMs = 60_000) => ({
  name,
  source_type: 'openapi',
  openapi: { server_url: 'http://127.0.0.1:9', ...openapi },
  resilience: { startupTimeoutMs },
});
const preview = (...form: Parameters<typeof formOf>) => admin.post('/api/sources/preview?discover=true', formOf(...form));
async function isServing(): Promise<boolean> {
  return (await admin.call('builtin:calculator', { expression: '6 * 7' })).json.result.result === 42;
}
/** Every nine bytes of it become some three hundred and sixty. */
const costly = (bytes: number) => `[${'{"34":0},'.repeat(bytes / 9)}0]`;

test('[SEC-1] documents that need more memory than there is end with their own process, and the server goes on', async () => {
  const text = `{"openapi":"3.0.3","info":{},"paths":{},"x":${costly(30 * 1024 * 1024)}}`;
  const answered = Promise.all(['one', 'two', 'three'].map(async (name) => preview(name, { text }, 10_000)));
  expect(await isServing()).toBe(true);
  for (const { status, json } of await answered)
    expect({ status, tools: json.tools, error: json.error?.code }).toEqual({
      status: 200,
      tools: null,
      // Where the machine is busy, the time is over before the memory is full.
      error: expect.stringMatching(/^(VALIDATION_ERROR|NETWORK_ERROR|SERVICE_UNAVAILABLE)$/),
    });
  expect(await isServing()).toBe(true);
});

test('[SEC-3] a registration that has such values in place of a text does no harm either', async () => {
  const { status, json } = await admin.post('/api/sources', `{"name":"x","openapi":${costly(20_000_000)}}`);
  expect({ status, code: json.code }).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  expect(await isServing()).toBe(true);
});

test('[SRC-5] documents are read two at a time, and those that wait say so', async () => {
  const slow: (() => void)[] = [];
  await using host = await startHttpServer((_, response) => {
    slow.push(() => response.end('{"type":"string"}'));
  });
  const body = { content: { 'application/json': { schema: { $ref: `${host.origin}/slow.json` } } } };
  const text = JSON.stringify(documentOf({ '/a': { post: operation('a', { requestBody: body }) } }));
  const form = (name: string) => formOf(name, { text, external_refs: [host.origin] });
  const register = async (name: string) => (await admin.post('/api/sources', form(name))).json.id as string;
  const statusOf = async (id: string) => (await admin.get(`/api/sources/${id}`)).json.status;

  const busy = [await register('first'), await register('second')];
  await untilSeen(() => slow.length === 2, 50_000);
  const waiting = [await register('third'), await register('fourth')];
  await until(async () => (await statusOf(waiting[1] ?? '')).message === 'Its document is number 2 in line to be read', 50_000);
  expect(await statusOf(waiting[0] ?? '')).toEqual({ state: 'starting', message: 'Its document is the next to be read' });
  const { json } = await preview('fifth', { text, external_refs: [host.origin] }, 500);
  expect(json.error.message).toMatch(/did not list its tools within 500 ms. Its document is number 2 in line to be read: try again later/);
  expect(slow).toHaveLength(2);

  await until(async () => {
    for (const answer of slow.splice(0)) answer();
    const all = await Promise.all([...busy, ...waiting].map(statusOf));
    return all.every(({ state }) => state === 'running');
  }, 50_000);
});

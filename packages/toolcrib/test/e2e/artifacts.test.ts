import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerSchema } from '../../src/api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { fixture } from '../fixtures/open-server.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  server = await startTestServer({ responseBytes: 4096, artifactBytes: 20_000_000 });
  [admin, alice] = await Promise.all([server.as('admin'), server.as('alice')]);
  await admin.post('/api/groups', { id: 'everything', name: 'Everything', selectors: [{ source: '*' }] });
  const matchers = [{ path: 'sub', operator: 'exists' }];
  await admin.post('/api/policies', { id: 'everybody', name: 'Everybody', matchers, groups: ['everything'] });
  await admin.post('/api/sources?wait=60000', { name: 'One', mcp_command: fixture('plain'), mcp_lifecycle_mode: 'singleton' });
});
afterAll(() => server[Symbol.asyncDispose]());

const fetched = async (path: string, client = alice) => {
  const response = await fetch(client.url + path, { headers: { authorization: `Bearer ${client.token}` } });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

describe('[EXEC-7] [BFF-5] an answer that is too large', () => {
  test('is cut, and its owner can fetch all of it', async () => {
    const { json } = await alice.call('one:huge', { bytes: 1_000_000 });
    const url = `/api/bff/calls/${json.call_id}/artifacts/1`;
    expect(answerSchema.parse(json)).toMatchObject({
      success: true,
      metadata: { truncated: true, artifacts: [{ n: 1, type: 'text', mime_type: 'text/plain; charset=utf-8', bytes: 1_000_000, url }] },
    });
    expect(json.text).toMatch(new RegExp(`^x{3000,4000}\n\\[Cut after \\d+ characters. The whole is at ${url}\\]$`));
    const { response, bytes } = await fetched(url);
    expect(bytes.toString()).toBe('x'.repeat(1_000_000));
    expect(['content-type', 'content-disposition', 'x-content-type-options'].map((name) => response.headers.get(name))).toEqual([
      'text/plain; charset=utf-8',
      'attachment',
      'nosniff',
    ]);
    expect((await admin.get('/metrics')).text).toMatch(/^toolcrib_cut_answers_total\{source="one"\} \d+$/m);
  });

  test('is hidden from others, for whom it looks as if it did not exist', async () => {
    const { call_id: callId } = (await alice.call('one:huge', { bytes: 10_000 })).json;
    const paths = [`/api/bff/calls/${callId}/artifacts/1`, `/api/bff/calls/${callId}/artifacts/2`, '/api/bff/calls/none/artifacts/1'];
    const answers = await Promise.all(paths.map((path) => admin.get(path)));
    for (const { status, text } of answers) expect([status, text]).toEqual([404, answers[2]?.text]);
    for (const n of ['0', 'x', '99999']) expect((await alice.get(`/api/bff/calls/${callId}/artifacts/${n}`)).status).toBe(400);
  });

  test('may contain a picture, which is fetched as it is, whatever type it claims', async () => {
    const picture = Buffer.alloc(9000, 3);
    const block = { type: 'image', data: picture.toString('base64'), mimeType: 'image/png' };
    const { json } = await alice.call('one:give', { result: { content: [block, { ...block, mimeType: 'text/html' }] } });
    const [png, html] = await Promise.all(json.metadata.artifacts.map(({ url }: { url: string }) => fetched(url)));
    expect([png.bytes.equals(picture), png.response.headers.get('content-type')]).toEqual([true, 'image/png']);
    expect(html.response.headers.get('content-security-policy')).toContain('sandbox');
    expect(json.content[0].text).toContain('This part (image) is too large');
  });

  test('loses its structured content, which can be fetched as JSON', async () => {
    const structuredContent = { rows: Array.from({ length: 2000 }, (_, index) => ({ index })) };
    const { json } = await alice.call('one:give', { result: { content: [{ type: 'text', text: 'rows' }], structuredContent } });
    expect([json.structured_content, json.text.split('\n')[0]]).toEqual([null, 'rows']);
    const { bytes, response } = await fetched(json.metadata.artifacts[0].url);
    expect([JSON.parse(bytes.toString()), response.headers.get('content-type')]).toEqual([structuredContent, 'application/json']);
  });

  test('is given whole if its tool or source allows more', async () => {
    await admin.patch('/api/tools/one:huge', { limits: { response_bytes: 2_000_000 } });
    const { json } = await alice.call('one:huge', { bytes: 1_000_000 });
    expect([json.text.length, json.metadata.truncated]).toEqual([1_000_000, undefined]);
    await admin.patch('/api/tools/one:huge', { limits: null });
  });

  test('can be fetched from the inner call if it was made through call_tool', async () => {
    const { json } = await alice.call('builtin:call_tool', { name: 'one:huge', arguments: { bytes: 10_000 } });
    const [{ url }] = json.metadata.artifacts;
    expect(url).toBe(`/api/bff/calls/${json.metadata.call_id}/artifacts/1`);
    expect((await fetched(url)).bytes).toHaveLength(10_000);
  });

  test('is kept for a background call as long as the answer', async () => {
    const headers = { 'idempotency-key': 'cut' };
    const { json } = await alice.call('one:huge', { bytes: 10_000 }, {}, headers);
    const again = (await alice.call('one:huge', { bytes: 10_000 }, {}, headers)).json;
    expect(again.metadata.artifacts).toEqual(json.metadata.artifacts);
  });

  test('says so when it is more than is kept for anybody', async () => {
    const { json } = await alice.call('one:huge', { bytes: 21_000_000 });
    expect(json.metadata).toMatchObject({ truncated: true, artifacts: [] });
    expect(json.text).toMatch(/The rest could not be kept\.]$/);
  });
});

describe('[EXEC-7] an answer of a hostile server does no harm', () => {
  test.each(['structured', 'block', 'meta'])('with lists nested a hundred thousand deep, as %s', async (where) => {
    for (const levels of [2000, 100_000]) {
      const { status, json } = await alice.call('one:deep', { levels, where });
      expect([status, json.success, json.metadata.truncated]).toEqual([200, true, true]);
    }
    expect((await alice.call('one:echo', { text: 'well' })).json.text).toBe('well');
  });

  test('with such lists in a log that its caller follows', async () => {
    await using stream = await alice.callStream('one:deep', { levels: 100_000, where: 'log' });
    const events = await stream.rest();
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { success: true, text: 'logged' } });
  });

  test('with half characters, also where the text is cut', async () => {
    const { json } = await alice.call('one:give', { result: { content: [{ type: 'text', text: 'a\ud800'.repeat(3000) }] } });
    expect(json).toMatchObject({ success: true, metadata: { truncated: true } });
    const short = await alice.call('one:give', { result: { content: [], structuredContent: { 'k\udc00': '\ud800' } } });
    expect(short.json.result).toEqual({ 'k\udc00': '\ud800' });
  });

  test('that is larger than a message may be: the session ends, and the next call works', async () => {
    const { json } = await alice.call('one:huge', { bytes: 50_000_000 });
    expect(json).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect((await alice.call('one:echo', { text: 'well' })).json.text).toBe('well');
  });
});

describe('[MCP-7] an answer that breaks its output schema', () => {
  const typed = async (result: object) => (await alice.call('one:typed', { result: { content: [], ...result } })).json;

  test('is returned anyway, flagged and counted', async () => {
    expect((await typed({ structuredContent: { sum: 1 } })).metadata).not.toHaveProperty('output_schema_violation');
    expect(await typed({ structuredContent: { sum: 'one' } })).toMatchObject({
      success: true,
      result: { sum: 'one' },
      metadata: { output_schema_violation: true, output_schema_violation_reason: 'structured_content.sum must be number' },
    });
    expect((await typed({})).metadata).toMatchObject({ output_schema_violation_reason: 'there is no structured content' });
    expect((await typed({ isError: true })).metadata).not.toHaveProperty('output_schema_violation');
    expect((await admin.get('/metrics')).text).toContain('toolcrib_output_schema_violations_total{source="one"} 2');
  });
});

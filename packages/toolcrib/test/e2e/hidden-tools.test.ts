import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer();
  [alice, admin] = await Promise.all([server.as('alice'), server.as('admin')]);
});
afterAll(() => server[Symbol.asyncDispose]());

describe('a forbidden tool looks like an unknown tool', () => {
  beforeAll(() => admin.patch('/api/tools/builtin:hash', { hidden: true }));
  afterAll(() => admin.patch('/api/tools/builtin:hash', { hidden: false }));

  const comparable = ({ status, headers, text }: { status: number; headers: Headers; text: string }) => ({
    status,
    text,
    headers: [...headers].filter(([name]) => name !== 'date'),
  });

  test('in the answer and its headers, whatever is sent with it', async () => {
    const { json } = await admin.get('/api/tools/builtin:hash');
    const args = { text: 'x' };
    const [unknown, ...others] = await Promise.all([
      alice.call('nowhere:nothing', args),
      alice.call('builtin:nothing', args),
      alice.call('builtin:hash', args),
      alice.call('builtin.hash', { wrong: true }),
      alice.post('/api/bff/tools/call', { tool_id: json.tool_id, arguments: args }),
      alice.post('/api/bff/tools/call', { tool_id: 'tool_000000000000000000000000', arguments: args }),
      alice.call('builtin:hash', args, { async: true }),
      alice.call('nowhere:nothing', args, { async: true }),
      alice.call('builtin:hash', args, {}, { 'idempotency-key': 'k' }),
      alice.call('builtin:hash', args, {}, { accept: 'text/event-stream' }),
    ]);
    expect(unknown).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } });
    for (const other of others) expect(comparable(other)).toEqual(comparable(unknown));
  });

  test('in the suggestions for a similar name', async () => {
    const asked = ['builtin:calculators', 'builtin.calculators', 'calculators', 'builtin_calculators'];
    const answers = async () => {
      const direct = await Promise.all(asked.map((name) => alice.call(name, { expression: '1' })));
      const { json } = await alice.post('/api/bff/tools/call/batch', { calls: asked.map((name) => ({ name })) });
      const said = await Promise.all(
        ['builtin:call_tool', 'builtin:describe_tool'].map(async (tool) => (await alice.call(tool, { name: asked[0] })).json.error),
      );
      return [direct.map(comparable), json, said];
    };
    const unknown = await answers();
    await admin.patch('/api/tools/builtin:hash', { rename: 'calculators' });
    const forbidden = await answers();
    await admin.patch('/api/tools/builtin:calculators', { rename: '' });
    expect(forbidden).toEqual(unknown);
    expect(JSON.stringify(unknown)).toContain('Did you mean builtin:calculator?');
    expect(JSON.stringify(unknown)).not.toContain('hash');
  });

  test('and is suggested to nobody', async () => {
    const { json } = await alice.call('builtin:hashes');
    expect(json.message).toBe('There is no such tool for you. GET /api/bff/tools lists those you may use.');
    expect((await admin.patch('/api/tools/builtin:hash', { hidden: false })).status).toBe(200);
    expect((await alice.call('builtin:hashes')).json.message).toContain('Did you mean builtin:hash?');
    await admin.patch('/api/tools/builtin:hash', { hidden: true });
  });

  test('in a batch and to the tools about tools', async () => {
    const entry = async (name: string) => (await alice.post('/api/bff/tools/call/batch', { calls: [{ name }] })).json.answers[0];
    expect(await entry('builtin:hash')).toEqual(await entry('nowhere:nothing'));
    for (const tool of ['builtin:describe_tool', 'builtin:call_tool']) {
      const said = async (name: string) => (await alice.call(tool, { name })).json.text.replaceAll(name, 'NAME');
      expect(await said('builtin:hash')).toBe(await said('builtin:nothing'));
    }
    const { json } = await alice.call('builtin:search_tools', { query: 'checksum digest hash' });
    expect(json.text).not.toContain('builtin:hash');
  });
});

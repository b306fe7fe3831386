import { afterAll, beforeAll, expect, test } from 'vitest';
import { administeredToolSchema } from '../../src/api.ts';
import type { ServeConfig } from '../../src/server/server-config.ts';
import { changingServer } from '../fixtures/changing-server.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

const self = { $ref: '#' };
const expression = { $ref: '#/$defs/e' };
/** `+`, `-` and `*` of two expressions: every level asks for all three. */
const kinds = ['+', '-', '*'].map((op) => ({
  type: 'object',
  properties: { op: { const: op }, left: expression, right: expression },
  required: ['op', 'left'],
}));
const nested = (name: string, levels: number, leaf: string, more = '') =>
  JSON.parse(`{${more}"${name}":`.repeat(levels) + leaf + '}'.repeat(levels)) as object;

const tools = [
  { name: 'doubling', inputSchema: { type: 'object', properties: { a: { anyOf: [self, self] } } } },
  {
    name: 'compute',
    inputSchema: { type: 'object', properties: { tree: expression }, $defs: { e: { oneOf: [{ type: 'number' }, ...kinds] } } },
  },
  {
    name: 'wide',
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, { type: 'string' }])),
    },
  },
  {
    name: 'huge',
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`property-${index}`, { type: 'string' }])),
    },
  },
  { name: 'wrong', inputSchema: { type: 'object', properties: { a: { type: 'strng' } } } },
];

let upstream: Awaited<ReturnType<typeof changingServer>>;
let server: OpenServer;
beforeAll(async () => {
  upstream = await changingServer(...tools);
  server = await startServer({ checkMs: 2000 });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function startServer(config: Partial<ServeConfig> = {}): Promise<OpenServer> {
  const started = await startOpenServer(config);
  const body = { name: 'Costly', mcp_command: upstream.command, mcp_lifecycle_mode: 'singleton' };
  const { json } = await started.admin.post('/api/sources?wait=60000', body);
  expect(json).toMatchObject({ status: { state: 'running' } });
  return started;
}

const attack = nested('a', 55, '1');

test('[EXEC-1] a small request whose check would take years holds up nobody', async () => {
  let answered: Promise<unknown>;
  {
    // The attack is never stopped before the server is: whatever is answered meanwhile was answered beside it.
    await using busy = await startServer({ checkMs: 600_000 });
    const { alice, bob } = busy;
    let ended = false;
    answered = Promise.allSettled([1, 2, 3].map(() => alice.call('costly:doubling', attack).finally(() => (ended = true))));
    for (let round = 0; round < 5; round++) {
      expect((await bob.get('/healthz')).status).toBe(200);
      expect((await bob.get('/api/bff/tools?limit=5')).status).toBe(200);
      expect((await bob.call('builtin:calculator', { expression: '6 * 7' })).json).toMatchObject({ success: true });
      expect((await alice.call('costly:doubling', { a: { a: {} } })).json).toMatchObject({ success: true });
    }
    // What is costly and honest goes where the attack goes, and has a thread there.
    expect((await bob.call('costly:wide', { p1: 'x' })).json).toMatchObject({ success: true });
    expect(ended).toBe(false);
  }
  await answered;
});

test('[EXEC-1] arguments that take too long to check are refused', async () => {
  const { status, json } = await server.alice.call('costly:doubling', attack);
  expect(status).toBe(400);
  expect(json).toMatchObject({
    code: 'VALIDATION_ERROR',
    field: 'arguments',
    message: 'arguments take too long to check against the schema of this tool: send fewer, or less deeply nested ones',
  });
});

test('[EXEC-1] a schema that branches and refers to itself is checked correctly, however deep the arguments go', async () => {
  const { bob } = server;
  for (const levels of [2, 9]) {
    const tree = nested('left', levels, '1', '"op":"*",');
    expect((await bob.call('costly:compute', { tree })).json).toMatchObject({ success: true });
    const wrong = await bob.call('costly:compute', { tree: nested('left', levels, '"one"', '"op":"*",') });
    expect([wrong.status, wrong.json.code]).toEqual([400, 'VALIDATION_ERROR']);
  }
});

test('[INV-3] administrators see which tools nobody can call, and why', async () => {
  const { admin, bob } = server;
  const flagsOf = async (name: string) =>
    administeredToolSchema.parse((await admin.get(`/api/tools/${name}`)).json).flags.filter(({ kind }) => kind === 'unusable_schema');
  // Its size is known without a call.
  const large = { kind: 'unusable_schema', at: '/input_schema', excerpt: expect.stringMatching(/^is too large: it has \d+ parts/) };
  expect(await flagsOf('costly:huge')).toEqual([large]);
  const refused = await bob.call('costly:huge', {});
  expect([refused.status, refused.json.message]).toEqual([
    503,
    expect.stringContaining('Nobody can call costly:huge: its input schema is too'),
  ]);
  expect(await flagsOf('costly:huge')).toEqual([large]);
  expect(await flagsOf('costly:wrong')).toEqual([]);
  expect((await bob.call('costly:wrong', {})).status).toBe(503);
  expect(await flagsOf('costly:wrong')).toEqual([
    { kind: 'unusable_schema', at: '/input_schema', excerpt: expect.stringContaining('is not valid') },
  ]);
  expect((await admin.get('/api/sources/costly/logs')).text).toContain('Nobody can call costly:wrong: its input schema is not valid');
  expect(await flagsOf('costly:doubling')).toEqual([]);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startHandmadeServer, textResult, type Asked } from '../fixtures/mcp/handmade-server.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

let server: OpenServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin, alice } = server);
});
afterAll(() => server[Symbol.asyncDispose]());

const tools = [
  { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'set', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } },
  { name: 'pay', inputSchema: { type: 'object' } },
];

/** A remote source whose first calls fail in a way of the test's own, and whose later ones work. */
async function failing({ times, how, retries = { backoffMs: 5 } }: { times: number; how: (asked: Asked) => unknown; retries?: object }) {
  let calls = 0;
  const remote = await startHandmadeServer({
    'tools/list': ({ result }) => result({ tools }),
    'tools/call': (asked) => {
      calls++;
      return calls <= times ? how(asked) : asked.result(textResult('done'));
    },
  });
  const body = { name: 'Frail', mcp_server_url: remote.url, resilience: { retries, restart: { maxAttempts: 5, backoffMs: 10 } } };
  const { json } = await admin.post('/api/sources?wait=60000', body);
  expect(json.status.state).toBe('running');
  return {
    remote,
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      await admin.delete('/api/sources/frail');
      await remote[Symbol.asyncDispose]();
    },
  };
}

const cut = ({ response }: Asked) => response.socket?.destroy();
const busy =
  (retryAfter: string) =>
  ({ response }: Asked) =>
    response.writeHead(429, { 'retry-after': retryAfter }).end();
const forgotten = ({ response }: Asked) => response.writeHead(404).end();
const down = ({ response }: Asked) => response.writeHead(503).end();

describe('[EXEC-8] a call is retried', () => {
  test.each([
    ['of a read-only tool whose connection broke', 'look', 1, cut, 2],
    ['of an idempotent tool whose connection broke twice', 'set', 2, cut, 3],
    ['that the server put off', 'pay', 2, busy('0'), 3],
    ['[MCP-11] that came with a session the server has forgotten', 'pay', 1, forgotten, 2],
  ])('if it is one %s', async (_which, tool, times, how, attempts) => {
    await using source = await failing({ times, how });
    const { json } = await alice.call(`frail:${tool}`);
    expect(json).toMatchObject({ success: true, text: 'done', metadata: { attempts } });
    expect(source.calls()).toBe(attempts);
  });

  test('until its attempts are used up if nobody answers', async () => {
    await using source = await failing({ times: 0, how: cut });
    await source.remote[Symbol.asyncDispose]();
    const { json } = await alice.call('frail:pay');
    expect(json).toMatchObject({ success: false, status: 'failed', error: { code: 'NETWORK_ERROR' }, metadata: { attempts: 3 } });
    expect(json.error.message).toContain('refused');
    expect((await admin.get('/metrics')).text).toMatch(/^toolcrib_call_retries_total\{source="frail"\} \d+$/m);
  });
});

describe('[EXEC-8] a call is not retried', () => {
  test.each([
    ['that may have run and may do harm twice', 'pay', cut],
    ['that the server itself failed', 'look', down],
    ['that the server put off for longer than is worth waiting', 'look', busy('600')],
  ])('if it is one %s', async (_which, tool, how) => {
    await using source = await failing({ times: 1, how });
    const { json } = await alice.call(`frail:${tool}`);
    expect(json).toMatchObject({ success: false, metadata: { attempts: 1 } });
    expect(source.calls()).toBe(1);
  });

  test('[MCP-11] more than once for a session that is lost again', async () => {
    await using source = await failing({ times: 10, how: forgotten });
    expect((await alice.call('frail:look')).json).toMatchObject({ success: false, metadata: { attempts: 2 } });
    expect(source.calls()).toBe(2);
  });

  test('if the source says so', async () => {
    await using source = await failing({ times: 1, how: cut, retries: { maxAttempts: 0 } });
    expect((await alice.call('frail:look')).json).toMatchObject({ success: false, metadata: { attempts: 1 } });
    expect(source.calls()).toBe(1);
  });

  test('past its deadline', async () => {
    await using source = await failing({ times: 10, how: cut, retries: { backoffMs: 5000 } });
    const { json } = await alice.call('frail:look', {}, { timeout_ms: 2000 });
    expect(json).toMatchObject({ success: false, status: 'failed', error: { code: 'NETWORK_ERROR' }, metadata: { attempts: 1 } });
    expect(source.calls()).toBe(1);
  });
});

describe('[EXEC-8] a local server that dies in the middle of a call', () => {
  test.each(['transient', 'singleton'])('in %s mode is asked again if the tool is read-only, and not otherwise', async (mode) => {
    const body = {
      name: 'Mortal',
      mcp_command: fixture('plain'),
      mcp_lifecycle_mode: mode,
      resilience: { retries: { backoffMs: 5 }, restart: { maxAttempts: 5, backoffMs: 10 } },
    };
    expect((await admin.post('/api/sources?wait=60000', body)).json.status.state).toBe('running');
    // Read-only by its own word, and dead on every call: lost, begun anew once, lost again.
    const look = (await alice.call('mortal:die')).json;
    expect(look).toMatchObject({ success: false, error: { code: 'SERVICE_UNAVAILABLE' }, metadata: { attempts: 2 } });
    expect((await alice.call('mortal:crash')).json).toMatchObject({ success: false, metadata: { attempts: 1 } });
    await admin.delete('/api/sources/mortal');
  });
});

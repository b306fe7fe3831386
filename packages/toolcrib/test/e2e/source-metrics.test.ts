import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startHandmadeServer } from '../fixtures/mcp/handmade-server.ts';
import { fixture, startOpenServer, type OpenServer } from '../fixtures/open-server.ts';
import { until } from '../running-server.ts';

let server: OpenServer;
let admin: ApiClient;
let alice: ApiClient;

beforeAll(async () => {
  server = await startOpenServer();
  ({ admin, alice } = server);
});

afterAll(() => server[Symbol.asyncDispose]());

const register = (body: object) => admin.post('/api/sources?wait=30000', { mcp_lifecycle_mode: 'singleton', ...body });
const metrics = async () => (await server.admin.get('/metrics')).text;

/** The value of one series; undefined where there is none. */
async function valueOf(series: string): Promise<number | undefined> {
  const line = (await metrics()).split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

test('[MCP-10] [OPS-1] /metrics shows for each source the duration of its calls, its faults and whether it runs', async () => {
  await register({ name: 'Told', namespace: 'told', mcp_command: fixture('plain'), resilience: { restart: { backoffMs: 1 } } });
  expect(await valueOf('toolcrib_source_up{source="told"}')).toBe(1);
  expect(await valueOf('toolcrib_source_restarts_total{source="told"}')).toBe(0);
  await alice.call('told:echo', { text: 'timed' });
  // A failure reported by the tool is not a fault of the source.
  await alice.call('told:fail');
  expect(await valueOf('toolcrib_source_call_duration_seconds_count{source="told"}')).toBe(2);
  expect(await metrics()).not.toContain('toolcrib_source_errors_total{source="told"');
  await alice.call('told:crash');
  expect(await valueOf('toolcrib_source_errors_total{source="told",code="SERVICE_UNAVAILABLE"}')).toBe(1);
  expect(await valueOf('toolcrib_source_call_duration_seconds_count{source="told"}')).toBe(3);
  await until(async () => (await valueOf('toolcrib_source_restarts_total{source="told"}')) === 1);
  await admin.post('/api/sources/told/stop', {});
  expect(await valueOf('toolcrib_source_up{source="told"}')).toBe(0);
  expect(await valueOf('toolcrib_source_up{source="builtin"}')).toBe(1);
});

test('[MCP-10] failed heartbeats are counted, and calls that never reached the source do not count in its durations', async () => {
  let deaf = false;
  const tools = [{ name: 'look', inputSchema: { type: 'object', required: ['where'] } }];
  await using remote = await startHandmadeServer({
    'tools/list': ({ result }) => result({ tools }),
    ping: ({ result }) => (deaf ? undefined : result({})),
  });
  const resilience = { heartbeatIntervalMs: 20, requestTimeoutMs: 50 };
  await register({ name: 'Deaf', namespace: 'deaf', mcp_server_url: remote.url, resilience });
  expect((await alice.call('deaf:look')).json).toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(await metrics()).not.toContain('toolcrib_source_call_duration_seconds_count{source="deaf"}');
  deaf = true;
  await until(async () => ((await valueOf('toolcrib_source_heartbeat_failures_total{source="deaf"}')) ?? 0) > 0);
});

test('[MCP-10] the metrics of a deleted source are gone', async () => {
  await register({ name: 'Gone', namespace: 'gone', mcp_command: fixture('plain') });
  await alice.call('gone:echo', { text: 'soon' });
  await alice.call('gone:crash');
  expect(await metrics()).toContain('source="gone"');
  await admin.delete('/api/sources/gone');
  expect(await metrics()).not.toContain('source="gone"');
});

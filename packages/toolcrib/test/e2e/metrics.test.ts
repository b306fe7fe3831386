import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { fixture, fixtureRules } from '../fixtures/open-server.ts';
import { startServerWithIssuer, until, userClaims, adminClaims } from '../running-server.ts';

let crib: Awaited<ReturnType<typeof startServerWithIssuer>>;

beforeAll(async () => {
  crib = await startServerWithIssuer({ runRules: fixtureRules });
});

afterAll(() => crib[Symbol.asyncDispose]());

/** The value of one series; undefined where there is none. */
async function valueOf(series: string): Promise<number | undefined> {
  const text = await crib.metrics();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

test('[OPS-1] requests without a valid token are counted by reason', async () => {
  await using stranger = await startTokenIssuer();
  const now = Math.floor(Date.now() / 1000);
  const tokens = {
    malformed: 'nonsense',
    expired: await crib.issuer.sign({ ...userClaims, exp: now - 3600 }),
    audience: await crib.issuer.sign({ ...userClaims, aud: 'somebody-else' }),
    issuer: await stranger.sign({ ...userClaims, iss: 'https://unknown.example' }),
  };
  for (const [reason, token] of Object.entries(tokens)) {
    const series = `toolcrib_authentication_failures_total{reason="${reason}"}`;
    expect(await valueOf(series)).toBe(0);
    expect((await crib.server.client(token).get('/api/bff/tools')).status).toBe(401);
    expect(await valueOf(series)).toBe(1);
  }
  await crib.server.client().get('/api/bff/tools');
  expect(await valueOf('toolcrib_authentication_failures_total{reason="missing"}')).toBe(1);
});

test('[OPS-1] use, denials, open streams and writes of the record are counted', async () => {
  const user = await crib.signedIn(userClaims);
  await user.call('builtin:uuid');
  await user.call('builtin:no_such_tool');
  expect(await valueOf('toolcrib_tool_calls_total{tool="builtin:uuid",source="builtin",status="completed"}')).toBe(1);
  expect(await valueOf('toolcrib_denied_calls_total')).toBe(1);
  expect(await valueOf('toolcrib_record_duration_seconds_count')).toBeGreaterThan(1);
  expect(await valueOf('toolcrib_database_errors_total{during="record"}')).toBe(0);
  expect(await valueOf('toolcrib_trace_spans_total{outcome="dropped"}')).toBe(0);
  const feed = await user.follow();
  expect(await valueOf('toolcrib_event_streams')).toBe(1);
  await feed[Symbol.asyncDispose]();
  await until(async () => (await valueOf('toolcrib_event_streams')) === 0);
});

test('[OPS-1] the sessions of a source are counted, and whether one was ready for a call', async () => {
  const admin = await crib.signedIn(adminClaims);
  const body = { name: 'Ready', namespace: 'ready', mcp_command: fixture('plain'), standby: 1 };
  await admin.post('/api/sources?wait=30000', body);
  await admin.post('/api/groups', { id: 'ready', name: 'Ready', selectors: [{ source: 'ready' }] });
  const matchers = [{ path: 'sub', operator: 'exists' }];
  await admin.post('/api/policies', { id: 'ready', name: 'Ready', matchers, groups: ['ready'] });
  await until(async () => (await valueOf('toolcrib_source_sessions{source="ready",kind="standby"}')) === 1);
  expect(await valueOf('toolcrib_standby_hits_total{source="ready"}')).toBe(0);
  expect((await admin.call('ready:echo', { text: 'x' })).json).toMatchObject({ success: true });
  expect(await valueOf('toolcrib_standby_hits_total{source="ready"}')).toBe(1);
  expect(await valueOf('toolcrib_standby_misses_total{source="ready"}')).toBe(0);
  expect(await valueOf('toolcrib_source_sessions{source="ready",kind="call"}')).toBe(0);
});

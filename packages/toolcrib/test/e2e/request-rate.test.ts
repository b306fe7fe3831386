import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

const burst = 3;
let server: OpenServer;
beforeAll(async () => {
  // So slow that nothing is earned back while a test runs.
  server = await startOpenServer({ requestLimits: { rate_per_second: 0.001, burst }, demo: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test('[EXEC-7] searches are limited per user, with Retry-After', async () => {
  const { alice, bob } = server;
  for (let count = 0; count < burst; count++) expect((await alice.get('/api/bff/tools?q=uuid')).status).toBe(200);
  const refused = await alice.get('/api/bff/tools?q=uuid');
  expect([refused.status, refused.json.code, Number(refused.headers.get('retry-after')) > 1]).toEqual([429, 'RATE_LIMITED', true]);
  // One rate for everything of the kind, by whatever door.
  expect((await alice.post('/api/connections/none', {})).status).toBe(429);
  expect((await alice.call('builtin:search_tools', { query: 'uuid' })).json).toMatchObject({
    success: false,
    error: { code: 'RATE_LIMITED', retryable: true },
  });
  // Cheap requests are not counted.
  expect((await alice.get('/api/bff/tools')).status).toBe(200);
  expect((await alice.call('builtin:uuid')).json).toMatchObject({ success: true });
  expect((await bob.get('/api/bff/tools?q=uuid')).status).toBe(200);
});

test('[EXEC-7] registrations and previews are limited too, and a configuration of many sources is one request', async () => {
  const { admin } = server;
  const sources = Object.fromEntries(
    Array.from({ length: 3 * burst }, (_, index) => [`s${index}`, { mcp_command: [process.execPath, `${index}.js`], enabled: false }]),
  );
  const applied = await admin.post('/api/config/apply', { sources });
  expect([applied.status, applied.text]).toEqual([200, expect.any(String)]);
  const body = { name: 'Nobody', mcp_command: [process.execPath, 'nobody.js'], enabled: false };
  for (let count = 0; count < burst; count++) expect((await admin.post('/api/sources/preview', body)).status).toBe(200);
  expect((await admin.post('/api/sources/preview', body)).status).toBe(429);
  expect((await admin.post('/api/sources', body)).status).toBe(429);
});

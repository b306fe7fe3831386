import { describe, expect, test } from 'vitest';
import { startEverything } from '../conformance/everything/serve-http.ts';
import { runServerSuite, type ServerSuite } from '../conformance/server-suite.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startTestServer } from '../running-server.ts';

/** A server with the fixture behind it, whose tools have their own names at an address of their own. */
async function startDoor(era: 'legacy' | 'modern' | 'both') {
  await using opened = new AsyncDisposableStack();
  const everything = opened.use(await startEverything({ era }));
  // The suite changes the list of tools twice in a row and back, and wants to hear of it: a pause between the two would see no change.
  const atOnce = { refreshPauses: { firstMs: 0, longestMs: 0, quietMs: 0 } };
  const server = opened.use(await startTestServer({ allowedNetworks: ['loopback'], ...atOnce }));
  const admin = await server.as('admin');
  await grantEverything(admin);
  await admin.post('/api/groups', { id: 'conformance', name: 'Conformance', selectors: [{ source: 'everything' }] });
  await admin.post('/api/sources?wait=60000', { name: 'Everything', mcp_server_url: everything.url });
  const token = await server.running.mint?.('alice');
  const closing = opened.move();
  return {
    url: `${server.url}/mcp/conformance?names=own`,
    headers: { authorization: `Bearer ${token}` },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

const suites: ServerSuite[] = ['0.1.16', '2025-11-25', '2026-07-28'];

describe.each(['both', 'legacy', 'modern'] as const)('the door with a source of the era %s behind it', (era) => {
  test.each(suites)(
    '[DOOR-2] passes the required scenarios of the suite %s',
    async (suite) => {
      await using door = await startDoor(era);
      const scenarios = (await runServerSuite({ suite, ...door })).filter(({ required }) => required);
      const failed = scenarios.filter(({ problems }) => problems.length > 0);
      expect(failed.map(({ scenario, problems }) => ({ scenario, problems }))).toEqual([]);
      expect(scenarios.length).toBeGreaterThanOrEqual(30);
    },
    300_000,
  );
});

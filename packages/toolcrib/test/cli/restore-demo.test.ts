import { describe, expect, test } from 'vitest';
import { fixture } from '../fixtures/open-server.ts';
import { adminClaims, startServerWithIssuer, startTestServer, until } from '../running-server.ts';
import { runToolcrib } from './run-toolcrib.ts';

const restore = (url: string, env = {}) => runToolcrib(['sources', 'restore-demo'], { env: { TOOLCRIB_URL: url, ...env } });

describe('sources restore-demo', () => {
  test('[CLI-1] brings back sources that were removed or switched off, and spares another source of the same name', async () => {
    await using server = await startTestServer({ demo: true });
    const [admin, alice, bob] = await Promise.all([server.as('admin'), server.as('alice'), server.as('bob')]);
    for (const tool of ['demo:bake_pizza', 'pizzeria:place_order']) await until(async () => (await alice.listedNames()).includes(tool));
    expect((await admin.delete('/api/sources/demo')).status).toBe(204);
    expect((await admin.patch('/api/sources/pizzeria', { enabled: false })).status).toBe(200);

    expect(await restore(server.url)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^demo is running and has \d+ tools\.\npizzeria is running and has \d+ tools\.\n$/),
    });
    expect(await alice.listedNames()).toEqual(expect.arrayContaining(['demo:bake_pizza', 'pizzeria:place_order']));

    expect((await admin.delete('/api/sources/demo')).status).toBe(204);
    await admin.post('/api/sources?wait=30000', { name: 'Mine', namespace: 'demo', mcp_command: fixture('plain') });
    const refused = await restore(server.url);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Another source has the namespace demo') });
    expect((await bob.post('/dev/demo', {})).status).toBe(403);
  });

  test('[CLI-1] is refused with the reason when the demo is off', async () => {
    await using without = await startTestServer({ demo: false });
    expect(await restore(without.url)).toMatchObject({ code: 1, stderr: expect.stringContaining('started with --no-demo') });
    await using production = await startServerWithIssuer();
    const token = await production.issuer.sign(adminClaims);
    expect(await restore(production.server.url, { TOOLCRIB_TOKEN: token })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the demo exists only in development'),
    });
  });
});

import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { documentedOperations } from '../fixtures/documented-operations.ts';
import { adminClaims, startServerWithIssuer, startTestServer, temporaryDirectory, until } from '../running-server.ts';

const names = ['cancel_order', 'get_menu', 'get_order', 'list_orders', 'place_order'].map((name) => `pizzeria:${name}`);
const listed = async (user: ApiClient) => (await user.listedNames()).filter((name) => name.startsWith('pizzeria:'));
const ready = (user: ApiClient) => until(async () => (await listed(user)).length > 0);

describe('the pizzeria of a development server', () => {
  test('[SRC-5] [POLL-1] is a service described by OpenAPI, and its orders are polled until they are ready', async () => {
    await using server = await startTestServer({ demo: true });
    const [alice, bob] = await Promise.all([server.as('alice'), server.as('bob')]);
    await ready(alice);
    expect(server.running.pizzeria).toBe(true);
    expect(await listed(alice)).toEqual(names);
    const { tools } = (await alice.get('/api/bff/tools?q=order')).json;
    const toolNamed = (wanted: string) => tools.find(({ name }: { name: string }) => name === wanted);
    expect(toolNamed('pizzeria:place_order')).toMatchObject({ execution_mode: 'async_poll', output_schema: null });
    expect(toolNamed('pizzeria:get_order')).toMatchObject({ execution_mode: 'sync_http', output_schema: { type: 'object' } });
    expect((await bob.call('pizzeria:get_menu')).json.result.pizzas).toHaveLength(4);

    await using ordering = await alice.callStream('pizzeria:place_order', { body: { pizza: 'funghi', count: 2 } });
    const seen: { message?: string }[] = [];
    let last: { event?: string; data: unknown } | undefined;
    for (let event = await ordering.next(); event !== undefined; event = await ordering.next()) {
      if (event.event === 'progress') seen.push(event.data as { message: string });
      last = event;
    }
    expect(seen[0]).toEqual(expect.objectContaining({ message: 'received', progress: 0 }));
    expect(seen[0]).not.toHaveProperty('total');
    expect(last?.data).toMatchObject({ success: true, result: { status: 'ready', pizza: 'funghi', price: 19, customer: 'alice' } });

    // Each is called as whoever asks.
    const { orders } = (await alice.call('pizzeria:list_orders')).json.result;
    expect(orders).toHaveLength(1);
    expect((await bob.call('pizzeria:list_orders')).json.result.orders).toEqual([]);
    const [{ id }] = orders;
    expect((await bob.call('pizzeria:get_order', { id })).json).toMatchObject({ success: false, error: { upstream_status: 404 } });
    const refused = (await bob.call('pizzeria:place_order', { body: { pizza: 'funghi' } })).json;
    expect(refused).toMatchObject({ success: false, error: { code: 'FORBIDDEN', upstream_status: 403 } });
    const late = (await alice.call('pizzeria:cancel_order', { id })).json;
    expect(late.error).toMatchObject({ upstream_status: 409, message: expect.stringContaining('out of the oven') });
  });

  test('[POLL-1] reports a burnt order as a failure in its own words', async () => {
    await using server = await startTestServer({ demo: true });
    const alice = await server.as('alice');
    await ready(alice);
    const { json } = await alice.call('pizzeria:place_order', { body: { pizza: 'diavola', bake: 'dark' } });
    expect(json).toMatchObject({
      success: false,
      is_error: true,
      status: 'failed',
      error: { message: expect.stringContaining('too long') },
    });
    expect((await alice.call('pizzeria:place_order', { body: { pizza: 'hawaii' } })).status).toBe(400);
  });

  test('gets its new address when the server has another, and stays away once it is deleted', async () => {
    await using data = await temporaryDirectory();
    const config = { demo: true, dataDir: data.path };
    const documentOf = async (admin: ApiClient) => (await admin.get('/api/sources/pizzeria')).json?.definition.document.url as string;
    {
      await using server = await startTestServer(config);
      const admin = await server.as('admin');
      await ready(admin);
      expect(await documentOf(admin)).toBe(`${server.url}/demo/pizzeria/openapi.json`);
    }
    {
      await using server = await startTestServer(config);
      const [admin, alice] = await Promise.all([server.as('admin'), server.as('alice')]);
      await until(async () => (await documentOf(admin)) === `${server.url}/demo/pizzeria/openapi.json`);
      const works = async () => ((await alice.call('pizzeria:list_orders')).json.success === true ? true : undefined);
      await until(works);
      expect((await admin.delete('/api/sources/pizzeria')).status).toBe(204);
    }
    await using server = await startTestServer(config);
    const admin = await server.as('admin');
    expect(server.running.pizzeria).toBe(false);
    await until(async () => (await admin.get('/api/sources/demo')).json?.status.state === 'running');
    expect((await admin.get('/api/sources/pizzeria')).status).toBe(404);
  });

  test('[BFF-8] is not part of Toolcrib’s own API, and not an MCP endpoint', async () => {
    await using server = await startTestServer({ demo: true });
    expect((await documentedOperations(server.url)).filter(({ path }) => path.includes('demo'))).toEqual([]);
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    for (const [path, status] of Object.entries({ '': 404, '/': 404, '/mcp': 404, '/menu': 405, '/orders': 401 })) {
      const answer = await server.client().post(`/demo/pizzeria${path}`, initialize);
      expect([path, answer.status, answer.text.includes('jsonrpc')]).toEqual([path, status, false]);
    }
    const stranger = await server.client().get('/demo/pizzeria/menu', { origin: 'https://evil.example' });
    expect(stranger.status).toBe(403);
  });

  test('is missing in production, and where the demo is off', async () => {
    await using production = await startServerWithIssuer({ demo: true });
    expect((await production.server.client().get('/demo/pizzeria/menu')).status).toBe(404);
    expect((await (await production.signedIn(adminClaims)).get('/api/sources/pizzeria')).status).toBe(404);
    await using plain = await startTestServer();
    expect((await plain.client().get('/demo/pizzeria/menu')).status).toBe(404);
  });
});

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pizzeriaAudience } from '../../src/demo/pizzeria-api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { killableServers } from '../fixtures/killable-servers.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startPizzeria } from '../fixtures/pizzeria.ts';
import { exchangeClient } from '../fixtures/token-issuer.ts';
import { buyDocument, shopDocument, startWorkflowShop, type ShopRequest } from '../fixtures/workflow-shop.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { type ServerProcess, untilSeen } from '../running-server.ts';

const postgres = part('postgres');
const servers = killableServers();
const { open: openServer, signedIn, finished } = servers;
let opened = 0;

async function register(admin: ApiClient, form: object): Promise<void> {
  expect((await admin.post('/api/sources?wait=30000', form)).json).toMatchObject({ status: { state: 'running' } });
}

async function registerShop(admin: ApiClient, origin: string): Promise<void> {
  await grantEverything(admin);
  await register(admin, { name: 'Shop', source_type: 'openapi', openapi: { text: JSON.stringify(shopDocument(origin)) } });
  await register(admin, { name: 'Buying', source_type: 'workflow', workflow: { text: buyDocument } });
}

/** A workflow whose server is killed when the shop is asked this, without an answer; another server then goes on. */
async function killedAt(
  isMoment: (request: ShopRequest) => boolean,
  open: () => Promise<ServerProcess>,
  openNext: () => Promise<ServerProcess>,
) {
  let dying: ServerProcess | undefined;
  await using shop = await startWorkflowShop((request) => {
    if (dying === undefined || !isMoment(request)) return undefined;
    dying.child.kill('SIGKILL');
    dying = undefined;
    return 'never';
  });
  let callId: string;
  {
    await using server = await open();
    const { admin, user } = await signedIn(server);
    await registerShop(admin, shop.origin);
    dying = server;
    callId = (await user.call('buying:buy', { tag: 'dog' }, { async: true })).json.call_id;
    await server.ended;
  }
  await using server = await openNext();
  const { admin, user } = await signedIn(server);
  const answer = await finished(user, callId);
  const { calls } = (await admin.get('/api/calls?limit=100')).json as { calls: { call_id: string; status: string }[] };
  return { answer, shop: { orders: shop.orders(), requests: shop.requests }, records: calls.filter(({ call_id }) => call_id === callId) };
}

/** Both servers on the same data, one after the other. */
function oneAfterAnother() {
  const data = join(servers.folder, `data-${++opened}`);
  const open = () => openServer('--data', data);
  return [open, open] as const;
}

const isLook = ({ path }: ShopRequest) => path.startsWith('/orders/');
const bought = { status: 'completed', success: true, result: { order: 1, pet: 5, state: 'ready' } };

describe('[WF-2] a server that is killed in the middle of a workflow', () => {
  test('continues at its next start after the finished steps, and orders once', async () => {
    const { answer, shop, records } = await killedAt(isLook, ...oneAfterAnother());
    expect(answer).toMatchObject(bought);
    expect(shop.orders).toHaveLength(1);
    expect(shop.requests.filter(({ path }) => path.startsWith('/pets'))).toHaveLength(1);
    expect(records).toMatchObject([{ status: 'completed' }]);
  });

  test('says that the outcome of a step that must not be repeated is unknown', async () => {
    const { answer, shop } = await killedAt(({ method }) => method === 'POST', ...oneAfterAnother());
    expect(answer).toMatchObject({
      status: 'unknown',
      success: false,
      error: { retryable: false, message: expect.stringContaining('order#1') },
    });
    expect(shop.orders).toHaveLength(1);
  });

  test('joins an order that is still being polled', async () => {
    const { issuer } = servers.issuer;
    servers.issuer.exchanged.claims = {
      preferred_username: 'user',
      resource_access: { [pizzeriaAudience]: { roles: ['orders:read', 'orders:write'] } },
    };
    const file = join(servers.folder, 'orders.json');
    await using pizzeria = await startPizzeria({ issuer, jwks: `${issuer}/keys`, file, bakeMs: 3000 });
    const [open, openNext] = oneAfterAnother();
    let callId: string;
    {
      await using server = await open();
      const { admin, user } = await signedIn(server);
      await grantEverything(admin);
      const credential = { type: 'token_exchange', audience: pizzeriaAudience, ...exchangeClient };
      const async_poll = {
        place_order: { completed_values: ['ready'], failed_values: ['burnt'], interval_ms: 100, backoff: 1, max_attempts: 600 },
      };
      await register(admin, {
        name: 'Pizzeria',
        source_type: 'openapi',
        openapi: { url: `${pizzeria.url}/openapi.json`, async_poll },
        credential,
      });
      await register(admin, { name: 'Evening', source_type: 'workflow', workflow: { text: eveningDocument } });
      callId = (await user.call('evening:dinner', { pizza: 'funghi' }, { async: true })).json.call_id;
      await untilSeen(() => pizzeria.orders().length > 0);
      server.child.kill('SIGKILL');
      await server.ended;
    }
    await using server = await openNext();
    const { user } = await signedIn(server);
    expect(await finished(user, callId)).toMatchObject({ status: 'completed', result: { status: 'ready', currency: 'EUR' } });
    expect(pizzeria.orders()).toHaveLength(1);
  });
});

const eveningDocument = JSON.stringify({
  arazzo: '1.0.1',
  info: { title: 'Evening', version: '1' },
  sourceDescriptions: [{ name: 'pizzeria', url: 'https://pizzeria.test/openapi.json' }],
  workflows: [
    {
      workflowId: 'dinner',
      inputs: { type: 'object', properties: { pizza: { type: 'string' } }, required: ['pizza'] },
      steps: [
        { stepId: 'menu', operationId: 'get_menu', outputs: { currency: '$response.body#/currency' } },
        {
          stepId: 'order',
          operationId: 'place_order',
          requestBody: { payload: { pizza: '$inputs.pizza' } },
          outputs: { id: '$response.body#/id' },
        },
        {
          stepId: 'look',
          operationId: 'get_order',
          parameters: [{ name: 'id', in: 'path', value: '$steps.order.outputs.id' }],
          outputs: { status: '$response.body#/status' },
        },
      ],
      outputs: { status: '$steps.look.outputs.status', currency: '$steps.menu.outputs.currency' },
    },
  ],
});

describe.skipIf(!postgres.available)('[WF-2] [OPS-2] a workflow on PostgreSQL', () => {
  test('is continued by another server, and orders once', async () => {
    await using database = await freshPostgresDatabase();
    const open = () => openServer('--data', join(servers.folder, `replica-${++opened}`), '--database', database.url);
    await using other = await open();
    const { answer, shop, records } = await killedAt(isLook, open, async () => other);
    expect(answer).toMatchObject(bought);
    expect(shop.orders).toHaveLength(1);
    expect(records).toMatchObject([{ status: 'completed' }]);
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startOpenServer } from '../fixtures/open-server.ts';
import { buyDocument, shopDocument, startWorkflowShop } from '../fixtures/workflow-shop.ts';
import { startTestServer, until, untilSeen } from '../running-server.ts';

/** The service and the workflows over it; answers the source that the workflows are. */
async function register(admin: ApiClient, origin: string, sources: object = {}) {
  const shop = { name: 'Shop', source_type: 'openapi', openapi: { text: JSON.stringify(shopDocument(origin)) } };
  expect((await admin.post('/api/sources?wait=30000', shop)).json).toMatchObject({
    namespace: 'shop',
    status: { state: 'running', tools: 3 },
  });
  return admin.post('/api/sources?wait=30000', { name: 'Buying', source_type: 'workflow', workflow: { text: buyDocument, ...sources } });
}

test('[WF-1] every workflow is a tool, whose steps are separate calls of the caller', async () => {
  await using shop = await startWorkflowShop();
  await using server = await startOpenServer();
  const { json } = await register(server.admin, shop.origin);
  expect(json).toMatchObject({
    status: { state: 'running', tools: 1 },
    import: {
      format: 'Arazzo 1.0.1',
      tools: 1,
      skipped: [{ operation: 'broken', reason: expect.stringContaining('payOrder is not a tool of shop') }],
    },
  });
  expect(await server.alice.listedNames('?q=buy')).toContain('buying:buy');

  const answer = (await server.alice.call('buying:buy', { tag: 'dog' })).json;
  expect(answer).toMatchObject({ success: true, status: 'completed', result: { order: 1, pet: 5, state: 'ready' } });
  expect(shop.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /pets?tag=dog',
    'POST /orders',
    'GET /orders/1',
    'GET /orders/1',
  ]);
  expect(shop.orders()).toMatchObject([{ body: { pet: 5, note: 'for a friend of dogs' } }]);

  const steps = answer.metadata.workflow.steps as { step: string; call_id: string; status: number; succeeded: boolean }[];
  expect(steps.map(({ step, status, succeeded }) => `${step} ${status} ${succeeded}`)).toEqual([
    'find 200 true',
    'order 201 true',
    'check 200 false',
    'check 200 true',
  ]);
  const { calls } = (await server.admin.get('/api/calls?limit=100')).json;
  const recorded = (id: string) => calls.find(({ call_id }: { call_id: string }) => call_id === id);
  expect(steps.map(({ call_id }) => recorded(call_id)?.tool)).toEqual([
    'shop:findPets',
    'shop:placeOrder',
    'shop:getOrder',
    'shop:getOrder',
  ]);
  expect(recorded(answer.call_id)).toMatchObject({ tool: 'buying:buy', status: 'completed' });
  expect(new Set(steps.map(({ call_id }) => recorded(call_id)?.subject))).toEqual(new Set([recorded(answer.call_id)?.subject]));
});

test('[WF-1] [EXEC-7] a workflow counts as one call, so a caller limited to one at a time may run it', async () => {
  await using shop = await startWorkflowShop();
  await using server = await startOpenServer({ principalLimits: { concurrency: 1 } });
  await register(server.admin, shop.origin);
  expect((await server.alice.call('buying:buy', { tag: 'dog' })).json).toMatchObject({ success: true });
  expect((await server.alice.call('buying:buy', { tag: 'dog' })).json).toMatchObject({ success: true });
});

test('[WF-1] arguments are checked against the inputs of the workflow', async () => {
  await using shop = await startWorkflowShop();
  await using server = await startOpenServer();
  await register(server.admin, shop.origin);
  expect((await server.alice.call('buying:buy', { tag: 5 })).json).toMatchObject({ code: 'VALIDATION_ERROR', field: 'arguments.tag' });
  expect(shop.requests).toEqual([]);
});

test('[WF-1] a caller who may use the workflow but not the tool of a step is refused at that step, as in a direct call', async () => {
  await using shop = await startWorkflowShop();
  await using server = await startTestServer();
  const admin = await server.as('admin');
  await register(admin, shop.origin);
  await admin.post('/api/groups', { id: 'some', name: 'Some', include: ['buying:buy', 'shop:findPets'] });
  await admin.post('/api/policies', {
    id: 'bob',
    name: 'Bob',
    matchers: [{ path: 'preferred_username', operator: 'equals', value: 'bob' }],
    groups: ['some'],
  });
  const bob = await server.as('bob');
  const direct = (await bob.call('shop:placeOrder', { body: { pet: 5 } })).json;
  const answer = (await bob.call('buying:buy', { tag: 'dog' })).json;
  expect(answer).toMatchObject({
    success: false,
    status: 'failed',
    error: { code: 'NOT_FOUND', origin: 'caller', message: `Step order failed: ${direct.message} (code=NOT_FOUND)` },
  });
  expect(JSON.stringify(answer)).not.toContain('placeOrder');
  expect(shop.orders()).toEqual([]);
});

test('[WF-1] a step that fails is named, with the message of the service', async () => {
  await using shop = await startWorkflowShop(({ method }) =>
    method === 'POST' ? { status: 409, body: { message: 'sold to somebody else' } } : undefined,
  );
  await using server = await startOpenServer();
  await register(server.admin, shop.origin);
  const answer = (await server.alice.call('buying:buy', { tag: 'dog' })).json;
  expect(answer).toMatchObject({ success: false, status: 'failed', structured_content: { step: 'order', upstream_status: 409 } });
  expect(answer.error.message).toContain('Step order failed (status 409): $statusCode == 201 does not hold; ');
  expect(answer.error.message).toContain('sold to somebody else');
});

test('[WF-1] a step that looks at a redirect sees it, and no other has to know of one', async () => {
  await using shop = await startWorkflowShop(({ method, path }) => {
    if (method === 'POST') return { status: 303, headers: { location: '/orders/1' }, body: { id: 7 } };
    return path.startsWith('/pets') ? { status: 302, headers: { location: '/orders/2' } } : { body: { state: 'ready' } };
  });
  await using server = await startOpenServer();
  const steps = [
    { stepId: 'find', operationId: 'findPets', outputs: { state: '$response.body#/state' } },
    {
      stepId: 'order',
      operationId: 'placeOrder',
      requestBody: { payload: { pet: 5 } },
      successCriteria: [{ condition: '$statusCode == 303' }],
      outputs: { place: '$response.header.Location', id: '$response.body#/id' },
    },
  ];
  const outputs = { state: '$steps.find.outputs.state', place: '$steps.order.outputs.place', id: '$steps.order.outputs.id' };
  const document = { ...JSON.parse(buyDocument), workflows: [{ workflowId: 'buy', steps, outputs }] };
  await register(server.admin, shop.origin, { text: JSON.stringify(document) });
  expect((await server.alice.call('buying:buy', {})).json).toMatchObject({
    success: true,
    result: { state: 'ready', place: '/orders/1', id: 7 },
  });
  expect(shop.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /pets', 'GET /orders/2', 'POST /orders']);
});

test('[WF-1] progress names the current step', async () => {
  await using shop = await startWorkflowShop();
  await using server = await startOpenServer();
  await register(server.admin, shop.origin);
  await using stream = await server.alice.callStream('buying:buy', { tag: 'dog' });
  const events = await stream.rest();
  const progress = events.filter(({ event }) => event === 'progress').map(({ data }) => data as { message: string });
  expect(progress.map(({ message }) => message)).toEqual(['find: Looks for one', 'order', 'check', 'check']);
});

test('[WF-1] sources are named by their namespace, and bound again when their tools change', async () => {
  await using shop = await startWorkflowShop();
  await using server = await startOpenServer();
  const early = await server.admin.post('/api/sources?wait=30000', {
    name: 'Buying',
    source_type: 'workflow',
    workflow: { text: buyDocument, sources: { shop: 'store' } },
  });
  expect(early.json.import.skipped[0].reason).toContain('no source is registered for shop');
  const openapi = { text: JSON.stringify(shopDocument(shop.origin)) };
  await server.admin.post('/api/sources?wait=30000', { name: 'Store', source_type: 'openapi', openapi });
  await until(async () => (await server.alice.listedNames()).includes('buying:buy'));
  expect((await server.alice.call('buying:buy', { tag: 'dog' })).json).toMatchObject({ success: true });
});

test('[WF-1] the example over the pizzeria bakes a pizza', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../../examples/workflows/pizza.arazzo.yaml'), 'utf8');
  await using server = await startTestServer({ demo: true });
  const admin = await server.as('admin');
  const isServed = async () => (await admin.listedNames('?q=pizza')).includes('pizzeria:place_order');
  await until(isServed);
  const { json } = await admin.post('/api/sources?wait=30000', { name: 'Evenings', source_type: 'workflow', workflow: { text } });
  expect(json).toMatchObject({ status: { state: 'running', tools: 2 }, import: { skipped: [], warnings: [] } });
  const alice = await server.as('alice');
  const answer = (await alice.call('evenings:dinner', { pizza: 'funghi', count: 2 })).json;
  expect(answer).toMatchObject({ success: true, result: { summary: '2 × funghi for alice: ready', currency: 'EUR' } });
  expect((await alice.call('evenings:dinner', { pizza: 'hawaii' })).json).toMatchObject({
    success: false,
    error: { message: expect.stringContaining('Step order failed: ') },
  });
});

test('[WF-1] a cancelled workflow takes no further step', async () => {
  await using shop = await startWorkflowShop(({ method }) => (method === 'POST' ? 'never' : undefined));
  await using server = await startOpenServer();
  await register(server.admin, shop.origin);
  const { call_id: id } = (await server.alice.call('buying:buy', { tag: 'dog' }, { async: true })).json;
  await untilSeen(() => shop.orders().length > 0);
  await server.alice.delete(`/api/bff/calls/${id}`);
  const answer = await until(async () => (await server.alice.get(`/api/bff/calls/${id}`)).json.answer ?? undefined);
  expect(answer).toMatchObject({ status: 'cancelled', success: false });
  expect(shop.requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
});

import { expect, test } from 'vitest';
import { find, lines, order, play } from './play-workflow.ts';

test('[WF-1] actions choose the way: the first whose criteria hold', async () => {
  const { output, requests } = await play(
    [
      {
        workflowId: 'w',
        steps: [
          {
            ...find,
            onSuccess: [
              { name: 'nothing', type: 'end', criteria: [{ condition: '$response.body#/count == 0' }] },
              { name: 'over', type: 'goto', stepId: 'order', criteria: [{ condition: '$response.body#/count == 1' }] },
              { name: 'late', type: 'end' },
            ],
          },
          { stepId: 'never', operationId: 'getPet', parameters: [{ name: 'petId', in: 'path', value: 1 }] },
          { ...order, outputs: { id: '$response.body#/id' }, onSuccess: [{ reference: '$components.successActions.stop' }] },
          { stepId: 'after', operationId: 'findPets' },
        ],
        outputs: { id: '$steps.order.outputs.id' },
      },
    ],
    ({ method }) => ({ body: method === 'GET' ? { count: 1 } : { id: 9 } }),
    { extra: { components: { successActions: { stop: { name: 'stop', type: 'end' } } } } },
  );
  expect(lines(requests)).toEqual(['GET /pets', 'POST /orders']);
  expect(output.structured_content).toEqual({ id: 9 });
});

test('[WF-1] a failed step is retried as often as its action says, then the next action is taken', async () => {
  const retry = { name: 'again', type: 'retry', retryAfter: 0.001, retryLimit: 2, criteria: [{ condition: '$statusCode == 503' }] };
  const failureActions = [retry, { name: 'else', type: 'goto', stepId: 'order' }];
  const steps = [{ ...find }, { ...order, onSuccess: [{ name: 'stop', type: 'end' }], outputs: { id: '$response.body#/id' } }];
  const workflow = { workflowId: 'w', failureActions, steps, outputs: { id: '$steps.order.outputs.id' } };
  const busy = await play([workflow], ({ method }) =>
    method === 'GET' ? { status: 503, headers: { 'retry-after': '0' } } : { body: { id: 1 } },
  );
  expect(lines(busy.requests)).toEqual(['GET /pets', 'GET /pets', 'GET /pets', 'POST /orders']);
  expect(busy.output.structured_content).toEqual({ id: 1 });
  const better = await play([workflow], (_seen, count) => ({ status: count === 1 ? 503 : 200 }));
  expect(lines(better.requests)).toEqual(['GET /pets', 'GET /pets', 'POST /orders']);
});

test('[WF-1] another step or workflow can run before a retry', async () => {
  const login = {
    workflowId: 'login',
    steps: [{ ...order, outputs: { token: '$response.body#/token' } }],
    outputs: { token: '$steps.order.outputs.token' },
  };
  const steps = [
    {
      ...find,
      parameters: [{ name: 'tag', in: 'query', value: '$workflows.login.outputs.token' }],
      onFailure: [{ name: 'login', type: 'retry', workflowId: 'login', criteria: [{ condition: '$statusCode == 401' }] }],
    },
  ];
  const { output, requests } = await play([{ workflowId: 'w', steps }, login], ({ method, url }) =>
    method === 'POST' ? { body: { token: 't' } } : { status: url === '/pets?tag=t' ? 200 : 401 },
  );
  expect(lines(requests)).toEqual(['GET /pets', 'POST /orders', 'GET /pets?tag=t']);
  expect(output.is_error).toBeUndefined();
});

test('[WF-1] a workflow can call another with its own inputs, and be left for another', async () => {
  const place = {
    workflowId: 'place',
    inputs: { type: 'object', properties: { pet: {} } },
    steps: [{ ...order, requestBody: { payload: { pet: '$inputs.pet' } }, outputs: { id: '$response.body#/id' } }],
    outputs: { id: '$steps.order.outputs.id' },
  };
  const steps = [
    { ...find, outputs: { pet: '$response.body#/id' } },
    {
      stepId: 'buy',
      workflowId: 'place',
      parameters: [{ name: 'pet', value: '$steps.find.outputs.pet' }],
      successCriteria: [{ condition: '$statusCode == 200' }],
      outputs: { id: '$outputs.id' },
      onSuccess: [{ name: 'on', type: 'goto', workflowId: 'show' }],
    },
  ];
  const show = {
    workflowId: 'show',
    steps: [{ ...find, stepId: 'last' }],
    outputs: { bought: '$workflows.place.outputs.id', mine: '$inputs.mine' },
  };
  const { output, requests } = await play(
    [{ workflowId: 'w', steps }, place, show],
    ({ method }) => ({ body: { id: method === 'GET' ? 5 : 6 } }),
    {
      args: { mine: true },
    },
  );
  expect(lines(requests)).toEqual(['GET /pets', 'POST /orders {"pet":5}', 'GET /pets']);
  expect(output.structured_content).toEqual({ bought: 6, mine: true });
  expect(output.metadata).toMatchObject({
    workflow: { steps: [{ step: 'find' }, { step: 'buy#1/order' }, { step: 'buy' }, { step: 'last' }] },
  });
});

test('[WF-1] an inner workflow that fails is a failed step, whatever its criteria', async () => {
  const inner = { workflowId: 'inner', steps: [order] };
  const { output } = await play(
    [{ workflowId: 'w', steps: [{ stepId: 'buy', workflowId: 'inner', successCriteria: [{ condition: '$statusCode == 500' }] }] }, inner],
    () => ({ status: 500 }),
  );
  expect(output).toMatchObject({
    is_error: true,
    structured_content: { message: expect.stringContaining('Step buy failed: Step buy#1/order failed (status 500)') },
  });
});

test('[WF-1] dependencies of a workflow run before it, once', async () => {
  const dependsOn = ['setup'];
  const setup = {
    workflowId: 'setup',
    steps: [{ ...order, outputs: { id: '$response.body#/id' } }],
    outputs: { id: '$steps.order.outputs.id' },
  };
  const inner = { workflowId: 'inner', dependsOn, steps: [find] };
  const w = { workflowId: 'w', dependsOn, steps: [{ stepId: 's', workflowId: 'inner' }], outputs: { id: '$workflows.setup.outputs.id' } };
  const { output, requests } = await play([w, setup, inner], () => ({ body: { id: 3 } }));
  expect(lines(requests)).toEqual(['POST /orders', 'GET /pets']);
  expect(output.structured_content).toEqual({ id: 3 });
});

test('[WF-1] steps that go to each other come to an end', async () => {
  const steps = [{ ...find, onSuccess: [{ name: 'round', type: 'goto', stepId: 'find' }] }];
  await expect(play([{ workflowId: 'w', steps }], () => ({}))).rejects.toMatchObject({
    message: expect.stringContaining('w was ended after 1000 steps'),
  });
});

import { expect, test } from 'vitest';
import { EndSwitch } from '../../../src/model/end-signal.ts';
import { UnknownOutcomeError } from '../../../src/durable/unknown-outcome-error.ts';
import { find, lines, order, play, toolsAt } from './play-workflow.ts';
import { arazzo, askOver, importFrom, operationTool, runTool, startShop, json, type RunOptions } from './shop.ts';

test('[WF-1] steps pass on their outputs, and the outputs of the workflow are the result', async () => {
  const progress: NonNullable<RunOptions['progress']> = [];
  const { output, requests } = await play(
    [
      {
        workflowId: 'buy',
        steps: [
          {
            ...find,
            description: 'Looks for one\nand more words',
            parameters: [{ name: 'tag', in: 'query', value: '$inputs.tag' }],
            successCriteria: [
              { condition: '$statusCode == 200' },
              { context: '$response.body', condition: '$[?@.id > 3]', type: 'jsonpath' },
            ],
            outputs: { pet: '$response.body#/0/id' },
          },
          {
            stepId: 'get',
            operationId: 'getPet',
            parameters: [
              { name: 'petId', in: 'path', value: '$steps.find.outputs.pet' },
              { name: 'X-Trace', in: 'header', value: 'pet-{$steps.find.outputs.pet}' },
            ],
            outputs: {
              url: '$url',
              method: '$method',
              trace: '$request.header.x-trace',
              id: '$request.path.petId',
              type: '$response.header.Content-Type',
            },
          },
          {
            ...order,
            requestBody: {
              payload: { petId: '$steps.find.outputs.pet', note: 'for {$inputs.who}', coupon: '$inputs.coupon' },
              replacements: [{ target: '/quantity', value: 2 }],
            },
            outputs: { order: '$response.body#/id', sent: '$request.body#/quantity' },
          },
        ],
        outputs: {
          order: '$steps.order.outputs.order',
          sent: '$steps.order.outputs.sent',
          seen: '$steps.get.outputs.id',
          url: '$steps.get.outputs.url',
        },
      },
    ],
    ({ url }) =>
      url.startsWith('/pets?') ? { body: [{ id: 5 }] } : url === '/orders' ? { status: 201, body: { id: 'o-1' } } : { body: {} },
    { args: { tag: 'dog', who: 'Ada' }, progress },
  );
  expect(lines(requests)).toEqual(['GET /pets?tag=dog', 'GET /pets/5', 'POST /orders {"petId":5,"note":"for Ada","quantity":2}']);
  expect(requests[1]?.headers['x-trace']).toBe('pet-5');
  expect(output).toMatchObject({ structured_content: { order: 'o-1', sent: 2, seen: 5, url: expect.stringMatching(/\/pets\/5$/) } });
  expect(output.is_error).toBeUndefined();
  expect(output.metadata).toEqual({
    workflow: {
      steps: [
        { step: 'find', call_id: 'call-1', status: 200, succeeded: true },
        { step: 'get', call_id: 'call-2', status: 200, succeeded: true },
        { step: 'order', call_id: 'call-3', status: 201, succeeded: true },
      ],
    },
  });
  expect(progress).toEqual([
    { progress: 1, total: 3, message: 'find: Looks for one' },
    { progress: 2, total: 3, message: 'get' },
    { progress: 3, total: 3, message: 'order' },
  ]);
});

test('[WF-1] a step that fails ends the workflow with its name, its criterion and the message of the service', async () => {
  const { output, requests } = await play(
    [{ workflowId: 'w', steps: [{ ...find, successCriteria: [{ condition: '$statusCode == 200' }] }, order] }],
    () => ({ status: 503, body: { message: 'closed' } }),
  );
  expect(requests).toHaveLength(1);
  expect(output).toMatchObject({
    is_error: true,
    structured_content: {
      message: 'Step find failed (status 503): $statusCode == 200 does not hold; answered with 503',
      step: 'find',
      upstream_status: 503,
    },
  });
});

test('[WF-1] a step without criteria succeeds if its call did', async () => {
  expect((await play([{ workflowId: 'w', steps: [find] }], () => ({ status: 404 }))).output.is_error).toBe(true);
  expect((await play([{ workflowId: 'w', steps: [find] }], () => ({ status: 201 }))).output.is_error).toBeUndefined();
});

test('[WF-1] criteria may accept a status that is not a success', async () => {
  const { output } = await play(
    [
      {
        workflowId: 'w',
        steps: [
          {
            ...find,
            successCriteria: [{ condition: '$statusCode == 404' }],
            outputs: { why: '$response.body#/message', after: '$response.header.Retry-After' },
          },
        ],
        outputs: { why: '$steps.find.outputs.why', after: '$steps.find.outputs.after' },
      },
    ],
    () => ({ status: 404, headers: { 'retry-after': '7' }, body: { message: 'none left' } }),
  );
  expect(output.structured_content).toEqual({ why: 'none left', after: '7' });
});

test('[WF-1] a forbidden tool fails its step, and no criterion can make that a success', async () => {
  const steps = [find, { ...order, successCriteria: [{ condition: '$response.body#/id == null' }] }];
  const { output, requests } = await play([{ workflowId: 'w', steps }], () => ({}), { refuses: ['placeOrder'] });
  expect(lines(requests)).toEqual(['GET /pets']);
  expect(output).toMatchObject({
    is_error: true,
    structured_content: { message: 'Step order failed: There is no such tool for you.', step: 'order', code: 'NOT_FOUND' },
  });
});

test('[WF-1] nothing that is filled into a text can become more than a value', async () => {
  const evil = '","admin":true,"x":"</note><b>&c=d';
  const steps = [
    {
      ...order,
      requestBody: {
        contentType: 'application/json',
        payload: '{"who": "{$inputs.who}", "all": "{$inputs.all}", "said": "<{$inputs.who}>"}',
      },
    },
    { ...order, stepId: 'bare', requestBody: { payload: '{"who": {$inputs.who}, "n": {$inputs.n}}' } },
    { stepId: 'xml', operationId: 'sendNote', requestBody: { payload: '<note>{$inputs.who}</note>' } },
    { stepId: 'form', operationId: 'sendForm', requestBody: { payload: 'a={$inputs.who}&n={$inputs.n}&k=v&k=w' } },
  ];
  const { requests } = await play([{ workflowId: 'w', steps }], () => ({}), { args: { who: evil, all: { deep: [1] }, n: 3 } });
  const sent = requests.map(({ body }) => body);
  expect(JSON.parse(sent[0] ?? '')).toEqual({ who: evil, all: { deep: [1] }, said: `<${evil}>` });
  expect(JSON.parse(sent[1] ?? '')).toEqual({ who: evil, n: 3 });
  expect(sent[2]).toBe('<note>&quot;,&quot;admin&quot;:true,&quot;x&quot;:&quot;&lt;/note&gt;&lt;b&gt;&amp;c=d</note>');
  expect(JSON.parse(sent[3] ?? '')).toEqual({ a: evil, n: 3, k: ['v', 'w'] });
});

test('a value that is missing in the middle of a text fails its step before anything is sent', async () => {
  const steps = [{ ...find, parameters: [{ name: 'tag', in: 'query', value: 'x-{$inputs.gone}' }] }];
  const { output, requests } = await play([{ workflowId: 'w', steps }], () => ({}));
  expect(requests).toEqual([]);
  expect(output).toMatchObject({ structured_content: { message: 'Step find failed: {$inputs.gone} has no value here' } });
});

test('[WF-2] a call that runs again does not repeat finished steps', async () => {
  const remembered = new Map<string, string>();
  const steps = [
    { ...order, outputs: { id: '$response.body#/id' } },
    { ...find, onFailure: [{ name: 'again', type: 'retry', retryLimit: 3, retryAfter: 0.001 }] },
    { ...order, stepId: 'second', requestBody: { payload: { after: '$steps.order.outputs.id' } }, outputs: { id: '$response.body#/id' } },
  ];
  const workflow = { workflowId: 'w', steps, outputs: { ids: '{$steps.order.outputs.id}-{$steps.second.outputs.id}' } };
  await using shop = await startShop((_seen, count) => ({ status: count === 2 ? 500 : 200, body: { id: count } }));
  const tools = toolsAt(shop.origin);
  const { tools: found } = await importFrom(arazzo([workflow]), tools);
  const ask = askOver(tools);
  let dies = true;
  const callTool: typeof ask = async (request, context) => {
    if (request.step === 'second#1' && dies) throw new Error('The server dies here');
    return ask(request, context);
  };
  await expect(runTool(found[0], {}, { callTool, remembered })).rejects.toThrow('The server dies here');
  expect(lines(shop.requests)).toEqual(['POST /orders', 'GET /pets', 'GET /pets']);
  dies = false;

  // Begun and not ended: nobody knows whether it was sent.
  await expect(runTool(found[0], {}, { callTool, remembered })).rejects.toBeInstanceOf(UnknownOutcomeError);
  for (const name of remembered.keys()) if (name.includes('second')) remembered.delete(name);
  const output = await runTool(found[0], {}, { callTool, remembered });
  expect(lines(shop.requests)).toEqual(['POST /orders', 'GET /pets', 'GET /pets', 'POST /orders {"after":1}']);
  expect(output.structured_content).toEqual({ ids: '1-4' });
});

test('[WF-2] a cancelled call starts no further step', async () => {
  const signal = new EndSwitch();
  const reason = new Error('cancelled');
  let asked = 0;
  const steps = [find, order];
  const running = play(
    [{ workflowId: 'w', steps }],
    () => {
      asked++;
      signal.end(reason);
      return {};
    },
    { signal },
  );
  await expect(running).rejects.toBe(reason);
  expect(asked).toBe(1);
});

test('[WF-2] every try has its own key if the operation supports one, the same on every run', async () => {
  const keyed = operationTool({ id: 'keyed', method: 'POST', path: '/keyed', parameters: [['Idempotency-Key', 'header']], body: json });
  const again = [{ name: 'again', type: 'retry', retryLimit: 1 }];
  const steps = [
    { stepId: 'first', operationId: 'keyed', onFailure: again },
    { stepId: 'own', operationId: 'keyed', parameters: [{ name: 'idempotency-key', in: 'header', value: 'mine' }] },
  ];
  await using shop = await startShop((_seen, count) => ({ status: count % 3 === 1 ? 503 : 200 }));
  const tools = [{ ...keyed, operation: { ...keyed.operation, server: shop.origin } }];
  const { tools: found } = await importFrom(arazzo([{ workflowId: 'w', steps }]), tools);
  for (let run = 0; run < 2; run++) await runTool(found[0], {}, { callTool: askOver(tools) });
  const keys = shop.requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([
    expect.stringMatching(/^[0-9a-f]{32}$/),
    expect.stringMatching(/^[0-9a-f]{32}$/),
    'mine',
    keys[0],
    keys[1],
    'mine',
  ]);
  expect(keys[0]).not.toBe(keys[1]);
  expect(found[0]?.workflow?.workflows[0]?.steps[0]?.calls).toMatchObject({ repeatable: true, key_argument: 'Idempotency-Key' });
});

test('inputs that are not given have their defaults', async () => {
  const inputs = { type: 'object', properties: { tag: { type: 'string', default: 'cat' }, other: {} } };
  const steps = [{ ...find, parameters: [{ name: 'tag', in: 'query', value: '$inputs.tag' }] }];
  const workflow = { workflowId: 'w', inputs, steps };
  expect(lines((await play([workflow], () => ({}))).requests)).toEqual(['GET /pets?tag=cat']);
  expect(lines((await play([workflow], () => ({}), { args: { tag: 'dog' } })).requests)).toEqual(['GET /pets?tag=dog']);
});

test('nothing is decided by half an answer', async () => {
  await using shop = await startShop(() => ({ body: { id: 1 } }));
  const tools = toolsAt(shop.origin);
  const ask = askOver(tools);
  const callTool: typeof ask = async (request, context) => {
    const answer = await ask(request, context);
    return { ...answer, metadata: { ...answer.metadata, truncated: true } };
  };
  const run = async (step: object) => {
    const { tools: found } = await importFrom(arazzo([{ workflowId: 'w', steps: [step] }]), tools);
    return runTool(found[0], {}, { callTool });
  };
  expect((await run({ ...find, successCriteria: [{ condition: '$statusCode == 200' }] })).is_error).toBeUndefined();
  expect((await run({ ...find, outputs: { id: '$response.body#/id' } })).structured_content).toMatchObject({
    message: 'Step find failed: its answer was too long and was truncated',
  });
});

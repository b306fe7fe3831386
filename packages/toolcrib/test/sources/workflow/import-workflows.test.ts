import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/model/json.ts';
import { arazzo, importFrom, json, operationTool } from './shop.ts';

const tools = [
  operationTool({
    id: 'findPets',
    path: '/pets',
    parameters: [
      ['tags', 'query'],
      ['X-Store', 'header'],
    ],
  }),
  operationTool({
    id: 'getPet',
    path: '/pets/{petId}',
    parameters: [
      ['petId', 'path'],
      ['id', 'query'],
    ],
    argumentOf: { petId: 'petId_path' },
  }),
  operationTool({ id: 'placeOrder', method: 'POST', path: '/orders', body: json }),
  operationTool({ id: 'twice', path: '/a' }),
  operationTool({ id: 'twice', path: '/b' }),
];

const find = { stepId: 'find', operationId: 'findPets' };

async function reasonFor(workflow: JsonObject, extra: JsonObject = {}): Promise<string> {
  const { tools: found, report } = await importFrom(
    arazzo(
      [
        { workflowId: 'w', ...workflow },
        { workflowId: 'fine', steps: [find] },
      ],
      extra,
    ),
    tools,
  );
  expect(found.map(({ definition }) => definition.name)).toContain('fine');
  return report.skipped.find(({ operation }) => operation === 'w')?.reason ?? 'it was not left out';
}

test('[WF-1] every workflow is a tool with its own inputs, bound to the tools of the sources it names', async () => {
  const workflow = {
    workflowId: 'buy',
    summary: 'Buy a pet',
    description: 'Finds one and buys it',
    inputs: { $ref: '#/components/inputs/buyer' },
    parameters: [{ reference: '$components.parameters.store' }],
    steps: [{ ...find, parameters: [{ name: 'tags', in: 'query', value: '$inputs.tags' }], outputs: { pet: '$response.body#/0/id' } }],
    outputs: { pet: '$steps.find.outputs.pet' },
  };
  const components = {
    inputs: {
      buyer: { type: 'object', properties: { tags: { $ref: '#/components/inputs/tags' } }, required: ['tags'] },
      tags: { type: 'array' },
    },
    parameters: { store: { name: 'x-store', in: 'header', value: 'main' } },
  };
  const imported = await importFrom(arazzo([workflow], { components }), tools);
  expect(imported).toMatchObject({
    title: 'Shop',
    version: '1.2.3',
    report: { format: 'Arazzo 1.0.1', operations: 1, tools: 1, skipped: [], warnings: [] },
  });
  const [tool] = imported.tools;
  expect(tool?.definition).toEqual({
    name: 'buy',
    title: 'Buy a pet',
    description: 'Finds one and buys it',
    input_schema: {
      type: 'object',
      properties: { tags: { $ref: '#/$defs/tags' } },
      required: ['tags'],
      $defs: { tags: { type: 'array' } },
    },
    output_schema: { type: 'object', properties: { pet: {} } },
    annotations: { readOnlyHint: true },
  });
  expect(tool).toMatchObject({ execution_mode: 'workflow', version: '1.2.3' });
  expect(tool?.workflow?.source_urls).toEqual({ shop: 'https://docs.test/shop.yaml' });
  expect(tool?.workflow?.workflows[0]?.steps[0]).toMatchObject({
    calls: { tool_id: tools[0]?.tool_id, repeatable: true, method: 'GET', url: 'https://shop.test/pets' },
    parameters: [
      { argument: 'tags', in: 'query', value: '$inputs.tags' },
      { argument: 'X-Store', in: 'header', value: 'main' },
    ],
  });
  const validate = new Ajv2020().compile(tool?.definition.input_schema ?? {});
  expect([validate({ tags: [] }), validate({ tags: 1 }), validate({})]).toEqual([true, false, false]);
});

test('[WF-1] a step is bound by path and method too, and by the argument names of its tool', async () => {
  const operationPath = '{$sourceDescriptions.shop.url}#/paths/~1pets~1{petId}/get';
  const steps = [{ stepId: 'get', operationPath, parameters: [{ name: 'petId', in: 'path', value: 1 }] }];
  const { tools: found } = await importFrom(arazzo([{ workflowId: 'w', steps }]), tools);
  expect(found[0]?.workflow?.workflows[0]?.steps[0]).toMatchObject({
    calls: { tool_id: tools[1]?.tool_id },
    parameters: [{ argument: 'petId_path', name: 'petId' }],
  });
});

test('[WF-1] a step may name any of the media types that its operation accepts', async () => {
  const takes = (content_type: string) => ({ content_type, kind: 'json' as const, encoding: {}, takes: ['object' as const] });
  const forms = [takes('application/merge-patch+json'), takes('application/strategic-merge-patch+json')];
  const tool = operationTool({ id: 'patch', method: 'PATCH', path: '/pets', body: { kind: 'json', type: 'application/merge-patch+json' } });
  const body = { argument: 'body', required: true, ...takes('application/merge-patch+json'), choice: { argument: 'content_type', forms } };
  const stepFor = async (contentType: string) => {
    const steps = [{ stepId: 's', operationId: 'patch', requestBody: { contentType, payload: {} } }];
    const patch = { ...tool, operation: { ...tool.operation, body } };
    const { tools: found, report } = await importFrom(arazzo([{ workflowId: 'w', steps }]), [patch]);
    return found[0]?.workflow?.workflows[0]?.steps[0] ?? report.skipped;
  };
  const content_type = 'application/strategic-merge-patch+json';
  expect(await stepFor(content_type)).toMatchObject({
    calls: { headers: { 'content-type': content_type } },
    body: { choice: { argument: 'content_type', content_type } },
  });
  expect(await stepFor('text/csv')).toMatchObject([
    { reason: expect.stringContaining('a body of application/merge-patch+json, application/strategic-merge-patch+json, not text/csv') },
  ]);
});

describe('a workflow that cannot run is left out, with the reason', () => {
  const step = (fields: JsonObject) => ({ steps: [{ stepId: 's', ...fields }] });
  const order = (requestBody: JsonObject) => step({ operationId: 'placeOrder', requestBody });

  test.each<[string, JsonObject, string]>([
    ['an unknown operation', step({ operationId: 'nothing' }), 'step s: nothing is not a tool of shop; refresh that source'],
    ['an operation in other letters', step({ operationId: 'FINDPETS' }), 'step s: FINDPETS is not a tool of shop; did you mean findPets?'],
    ['an operation that is misspelt', step({ operationId: '$sourceDescriptions.shop.findPest' }), 'did you mean findPets?'],
    ['a path that is misspelt', step({ operationPath: '{$sourceDescriptions.shop.url}#/paths/~1pet/get' }), 'did you mean /pets?'],
    [
      'an operation that is there twice',
      step({ operationId: 'twice' }),
      'twice matches more than one tool of shop; use an operationPath with a method',
    ],
    ['an unknown source', step({ operationId: '$sourceDescriptions.store.findPets' }), 'names no source description'],
    ['a path that is not written so', step({ operationPath: '/pets' }), 'operationPath must be'],
    ['an unknown path', step({ operationPath: '{$sourceDescriptions.shop.url}#/paths/~1x/get' }), 'GET /x is not a tool of shop'],
    [
      'an unknown parameter',
      step({ ...find, stepId: 's', parameters: [{ name: 'pet_tags', in: 'query', value: 1 }] }),
      'has no parameter pet_tags in query; it has tags (query), X-Store (header)',
    ],
    [
      'a parameter without a place',
      step({ operationId: 'findPets', parameters: [{ name: 'tags', value: 1 }] }),
      'needs the field in: path, query, header or cookie',
    ],
    ['a body where there is none', step({ operationId: 'findPets', requestBody: { payload: {} } }), 'takes no body'],
    ['a body of another type', order({ contentType: 'text/csv', payload: 'a' }), 'a body of application/json, not text/csv'],
    ['a replacement by XPath', order({ payload: {}, replacements: [{ target: '//a', value: 1 }] }), 'XPath is not supported'],
    [
      'a criterion in XPath',
      step({ operationId: 'findPets', successCriteria: [{ context: '$response.body', condition: '//a', type: 'xpath' }] }),
      'XPath, which is not supported',
    ],
    [
      'a condition nobody understands',
      step({ operationId: 'findPets', successCriteria: [{ condition: '$statusCode is 200' }] }),
      'is invalid',
    ],
    ['an expression nobody understands', order({ payload: { a: '$inputs' } }), '$inputs is not a valid expression'],
    ['an expression in a text', order({ payload: '{"a": "{$request.cookie.b}"}' }), '$request.cookie.b is not a valid expression'],
    [
      'an output of an unknown step',
      { ...step({ operationId: 'findPets' }), outputs: { a: '$steps.t.outputs.b' } },
      'a step that does not exist',
    ],
    ['an unknown workflow', { ...step({ operationId: 'findPets' }), outputs: { a: '$workflows.v.outputs.b' } }, 'not in this document'],
    [
      'an unknown component',
      step({ operationId: 'findPets', parameters: [{ reference: '$components.parameters.x' }] }),
      '$components.parameters.x does not exist',
    ],
    ['a jump to nowhere', step({ operationId: 'findPets', onSuccess: [{ name: 'a', type: 'goto' }] }), 'needs a stepId or a workflowId'],
    [
      'a jump to an unknown step',
      step({ operationId: 'findPets', onSuccess: [{ name: 'a', type: 'goto', stepId: 't' }] }),
      'step t, which does not exist',
    ],
    ['a step with two targets', step({ operationId: 'findPets', workflowId: 'fine' }), 'one of operationId, operationPath and workflowId'],
    ['a step without one', step({}), 'one of operationId, operationPath and workflowId'],
    ['a workflow of another document', step({ workflowId: '$sourceDescriptions.other.w' }), 'a workflow of another document'],
    ['a workflow that is not there', step({ workflowId: 'v' }), 'no workflow v in this document'],
    ['one that calls itself', step({ workflowId: 'w' }), 'w would call itself'],
    ['two steps of one name', { steps: [find, find] }, 'two steps are named find'],
    ['no step', { steps: [] }, 'steps: '],
    ['a field nobody knows', { steps: [find], timeout: 3 }, 'timeout'],
    [
      'inputs from elsewhere',
      { steps: [find], inputs: { $ref: 'https://other.test/schema.json' } },
      'inputs refer to https://other.test/schema.json',
    ],
    ['inputs that are no object', { steps: [find], inputs: { type: 'string' } }, 'must be the schema of an object'],
    [
      'inputs that refer to themselves',
      { steps: [find], inputs: { $ref: '#/components/inputs/a' } },
      'inputs refer to #/components/inputs/a',
    ],
  ])('for %s', async (_name, workflow, reason) => {
    expect(await reasonFor(workflow, { components: { inputs: { a: { $ref: '#/components/inputs/a' } } } })).toContain(reason);
  });

  test('for a source that is not registered', async () => {
    const document = arazzo([{ workflowId: 'w', steps: [find] }]).replace('"name":"shop"', '"name":"elsewhere"');
    const { report } = await importFrom(document, tools);
    expect(report.skipped).toEqual([
      { operation: 'w', reason: expect.stringContaining('no source is registered for elsewhere; register ./shop.yaml') },
    ]);
  });

  test('for workflows that call each other in a circle, and those that lead to them', async () => {
    const calling = (workflowId: string, called: string) => ({ workflowId, steps: [{ stepId: 's', workflowId: called }] });
    const { tools: found, report } = await importFrom(arazzo([calling('a', 'b'), calling('b', 'a'), calling('c', 'a')]), tools);
    expect(found).toEqual([]);
    expect(report.skipped.map(({ operation }) => operation)).toEqual(['a', 'b', 'c']);
  });

  test('for a workflow that leads to one that was left out', async () => {
    const bad = { workflowId: 'bad', steps: [{ stepId: 's', operationId: 'nothing' }] };
    const { report } = await importFrom(arazzo([{ workflowId: 'w', steps: [{ stepId: 's', workflowId: 'bad' }] }, bad]), tools);
    expect(report.skipped[0]).toEqual({
      operation: 'w',
      reason: expect.stringContaining('it leads to bad, which was skipped: step s: nothing'),
    });
  });

  test('for a workflow that depends on another with inputs', async () => {
    const { tools: found, report } = await importFrom(
      arazzo([
        { workflowId: 'login', inputs: { type: 'object' }, steps: [find] },
        { workflowId: 'w', dependsOn: ['login'], steps: [find] },
      ]),
      tools,
    );
    expect(found.map(({ definition }) => definition.name)).toEqual(['login']);
    expect(report.skipped[0]?.reason).toContain('it depends on login, which has inputs');
  });

  test('for a workflow of too many steps', async () => {
    expect(
      await reasonFor({ steps: [{ stepId: 's', operationId: 'placeOrder', requestBody: { payload: 'x'.repeat(200_000) } }] }),
    ).toContain('its plan is too long');
  });

  test('for two of one name, ignoring case', async () => {
    const { report } = await importFrom(
      arazzo([
        { workflowId: 'Buy', steps: [find] },
        { workflowId: 'buy', steps: [find] },
      ]),
      tools,
    );
    expect(report).toMatchObject({ tools: 1, skipped: [{ operation: 'buy', reason: expect.stringContaining('same name') }] });
  });
});

test('values that are probably missing are reported, and cost nothing', async () => {
  const steps = [
    {
      ...find,
      parameters: [
        { name: 'tags', in: 'query', value: '$inputs.tag' },
        { name: 'authorization', in: 'header', value: 'x' },
      ],
    },
  ];
  const { report } = await importFrom(arazzo([{ workflowId: 'w', steps, outputs: { a: '$steps.find.outputs.b' } }]), tools);
  expect(report.tools).toBe(1);
  expect(report.warnings.map(({ message }) => message)).toEqual([
    'step find: the header authorization is ignored: the source sends its own',
    '$inputs.tag is not one of the inputs',
    '$steps.find.outputs.b has no value: step find has no such output',
  ]);
});

describe('a document that cannot be read', () => {
  const valid = JSON.parse(arazzo([{ workflowId: 'w', steps: [find] }])) as JsonObject;
  test.each<[string, string, string]>([
    ['no Arazzo document', '{"openapi": "3.1.0"}', 'This is not an Arazzo document'],
    ['a later version', JSON.stringify({ ...valid, arazzo: '1.1.0' }), 'Arazzo 1.1.0 is not supported; use Arazzo 1.0'],
    ['no title', JSON.stringify({ ...valid, info: { version: '1' } }), 'info.title'],
    ['an unknown field', JSON.stringify({ ...valid, extra: 1 }), 'extra'],
    ['neither JSON nor YAML', '{"arazzo": ', 'neither JSON nor YAML'],
    [
      'two sources of one name',
      JSON.stringify({
        ...valid,
        sourceDescriptions: [
          { name: 'a', url: '.' },
          { name: 'a', url: '.' },
        ],
      }),
      'Two source descriptions are named a',
    ],
    ['nesting', `${'['.repeat(300)}${']'.repeat(300)}`, 'nested deeper than 200 levels'],
    ['short aliases of much', `a: &a ${'x'.repeat(50_000)}\nb: [${'*a, '.repeat(100)}]`, 'is too large once its aliases are expanded'],
    ['length', `# ${'x'.repeat(1_000_001)}`, 'longer than'],
    [
      'aliases that double',
      'a: &a [x, x]\n' +
        'bcdefghijklmnopqrstuvwxyz'
          .split('')
          .map((name, i) => `${name}: &${name} [${`*${'abcdefghijklmnopqrstuvwxyz'[i]}, `.repeat(9)}]`)
          .join('\n'),
      'The aliases of the document cannot be resolved',
    ],
  ])('is refused as a whole: %s', async (_name, text, message) => {
    await expect(importFrom(text, tools)).rejects.toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining(message) });
  });

  test('with a key twice gives a warning', async () => {
    const text = `${arazzo([{ workflowId: 'w', steps: [find] }]).slice(0, -1)}, "components": {}, "components": {} # YAML\n}`;
    expect((await importFrom(text, tools)).report.warnings).toEqual([
      { operation: null, message: expect.stringContaining('"components" is repeated') },
    ]);
  });

  test('may have extensions, which are ignored', async () => {
    const document = {
      ...valid,
      'x-a': 1,
      info: { ...(valid['info'] as JsonObject), 'x-b': {} },
      workflows: [{ workflowId: 'w', 'x-c': [], steps: [{ ...find, 'x-d': 1 }] }],
    };
    expect((await importFrom(JSON.stringify(document), tools)).report).toMatchObject({ tools: 1, skipped: [] });
  });
});

import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import { evaluateExpression, type Scope } from '../../../src/sources/workflow/expression/evaluate-expression.ts';
import { fillIn } from '../../../src/sources/workflow/expression/fill-in.ts';
import { withReplaced } from '../../../src/model/json-pointer.ts';
import { isMeantAsExpression, parseExpression } from '../../../src/sources/workflow/expression/parse-expression.ts';

const scope: Scope = {
  inputs: { user: 'ada', n: 3, 'x-api-key': 'k', customer: { name: 'Ada', tags: ['a', 'b'] }, 'a.b': 'dotted', nothing: null },
  outputs: { id: 7 },
  steps: new Map([['find-pet', { pet: { id: 5, 'a/b': { '~': 'odd' } }, list: [{ id: 1 }] }]]),
  workflows: new Map([['login', { inputs: { user: 'eve' }, outputs: { token: 't' } }]]),
  sourceUrls: { shop: 'https://shop.test/openapi.json' },
  componentValues: { page: 1, who: '$inputs.user', loop: '$components.parameters.loop' },
  exchange: {
    method: 'POST',
    url: 'https://shop.test/orders?a=1',
    request: { header: { accept: 'application/json', 'x-store': 's' }, query: { a: 1 }, path: { id: 'o-1' }, body: { note: 'n' } },
    status: 201,
    headers: { location: '/orders/o-1', 'x-rate-limit': '5' },
    body: { id: 'o-1', items: [{ price: 2.5 }], ok: true },
  },
};

const table: [string, Json | undefined][] = [
  ['$url', 'https://shop.test/orders?a=1'],
  ['$method', 'POST'],
  ['$statusCode', 201],
  ['$request.header.Accept', 'application/json'],
  ['$request.header.X-Store', 's'],
  ['$request.query.a', 1],
  ['$request.path.id', 'o-1'],
  ['$request.body', { note: 'n' }],
  ['$request.body#/note', 'n'],
  ['$response.header.Location', '/orders/o-1'],
  ['$response.header.X-Rate-Limit', '5'],
  ['$response.header.Missing', undefined],
  ['$response.body#/items/0/price', 2.5],
  ['$response.body#/items/00/price', undefined],
  ['$response.body#/items/-', undefined],
  ['$response.body#', { id: 'o-1', items: [{ price: 2.5 }], ok: true }],
  ['$response.body.ok', true],
  ['$response.body#/constructor', undefined],
  ['$inputs.user', 'ada'],
  ['$inputs.x-api-key', 'k'],
  ['$inputs.customer#/name', 'Ada'],
  ['$inputs.customer.name', 'Ada'],
  ['$inputs.customer#/tags/1', 'b'],
  ['$inputs.a.b', 'dotted'],
  ['$inputs.nothing', null],
  ['$inputs.toString', undefined],
  ['$inputs.__proto__', undefined],
  ['$outputs.id', 7],
  ['$steps.find-pet.outputs.pet#/id', 5],
  ['$steps.find-pet.outputs.pet#/a~1b/~0', 'odd'],
  ['$steps.find-pet.outputs.list#/0/id', 1],
  ['$steps.find-pet.pet', { id: 5, 'a/b': { '~': 'odd' } }],
  ['$steps.other.outputs.pet', undefined],
  ['$workflows.login.outputs.token', 't'],
  ['$workflows.login.inputs.user', 'eve'],
  ['$sourceDescriptions.shop.url', 'https://shop.test/openapi.json'],
  ['$components.parameters.page', 1],
  ['$components.parameters.who', 'ada'],
  ['$components.parameters.loop', '$components.parameters.loop'],
];

test.each(table)('[WF-1] %s means %j', (text, value) => {
  const expression = parseExpression(text);
  expect(expression).toBeDefined();
  expect(expression && evaluateExpression(expression, scope)).toEqual(value);
});

describe('text that looks like an expression', () => {
  test.each([
    '$response.query.a',
    '$response.body#items',
    '$response.body#/a~2',
    '$inputs',
    '$inputs.',
    '$steps.find-pet',
    '$workflows.login.token',
    '$sourceDescriptions.shop.findPets',
    '$request.cookie.a',
  ])('is refused if it is meant as one and invalid: %s', (text) => {
    expect(isMeantAsExpression(text)).toBe(true);
    expect(parseExpression(text)).toBeUndefined();
  });

  test.each(['$5.00', '$', '$urls', '$inputsx', 'inputs.user', ' $inputs.user'])('stays text: %j', (text) => {
    expect(isMeantAsExpression(text)).toBe(false);
    expect(fillIn(text, scope)).toBe(text);
  });
});

describe('values with expressions', () => {
  test.each<[Json, Json | undefined]>([
    ['$inputs.n', 3],
    ['{$inputs.n}', 3],
    ['n={$inputs.n}!', 'n=3!'],
    ['{$inputs.user} and {$inputs.customer}', 'ada and {"name":"Ada","tags":["a","b"]}'],
    ['{$5}', '{$5}'],
    ['{"a": 1}', '{"a": 1}'],
    [
      { a: '$inputs.n', b: ['$inputs.user', '$inputs.gone'], c: '$inputs.gone', d: { e: '$inputs.nothing' } },
      { a: 3, b: ['ada', null], d: { e: null } },
    ],
    ['$inputs.gone', undefined],
  ])('are filled in: %j becomes %j', (value, filled) => {
    expect(fillIn(value, scope)).toEqual(filled);
  });

  test('are refused if a longer text has a hole in it', () => {
    expect(() => fillIn('Bearer {$inputs.gone}', scope)).toThrow('{$inputs.gone} has no value here');
  });

  test('are not filled in twice', () => {
    const inputs = { user: '{$inputs.secret} $inputs.secret', secret: 's' };
    expect(fillIn('Hello {$inputs.user}', { ...scope, inputs })).toBe('Hello {$inputs.secret} $inputs.secret');
    expect(fillIn('$inputs.user', { ...scope, inputs })).toBe('{$inputs.secret} $inputs.secret');
  });
});

test.each<[Json, string, Json | undefined]>([
  [{ a: 1 }, '/a', { a: 'x' }],
  [{ a: 1 }, '/b/c', { a: 1, b: { c: 'x' } }],
  [{ a: [1, 2] }, '/a/0', { a: ['x', 2] }],
  [{ a: [1, 2] }, '/a/-', { a: [1, 2, 'x'] }],
  [{ a: [1, 2] }, '/a/9', undefined],
  [{ a: 1 }, '/a/b', undefined],
  [{ a: 1 }, '', 'x'],
  [{ 'a/b': 1 }, '/a~1b', { 'a/b': 'x' }],
])('in %j, %s is replaced', (value, pointer, replaced) => {
  expect(withReplaced(value, pointer, 'x')).toEqual(replaced);
});

test('a replacement cannot change what objects inherit', () => {
  const made = withReplaced({}, '/__proto__/polluted', true);
  expect(Object.keys(made as object)).toEqual(['__proto__']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import type { PlannedCriterion } from '../../../src/model/workflow-plan.ts';
import { evaluateCondition } from '../../../src/sources/workflow/condition/evaluate-condition.ts';
import { parseCondition } from '../../../src/sources/workflow/condition/parse-condition.ts';
import { firstUnmet } from '../../../src/sources/workflow/criterion.ts';
import type { Scope } from '../../../src/sources/workflow/expression/evaluate-expression.ts';
import { planCriterion } from '../../../src/sources/workflow/plan/plan-criterion.ts';

const body: Json = { status: 'Available', count: 3, text: '10', ok: true, no: false, none: null, pets: [{ name: "O'Neil" }], 'x-y': 1 };
const scope: Scope = {
  inputs: { limit: 3, name: 'available' },
  outputs: {},
  steps: new Map([['first', { total: 12 }]]),
  workflows: new Map(),
  sourceUrls: {},
  componentValues: {},
  exchange: {
    method: 'GET',
    url: '',
    request: { header: {}, query: {}, path: {}, body: undefined },
    status: 200,
    headers: { etag: 'W/"1"' },
    body,
  },
};

test.each<[string, boolean]>([
  ['$statusCode == 200', true],
  ['$statusCode==200', true],
  ['$statusCode != 200', false],
  ['$statusCode >= 200 && $statusCode < 300', true],
  ['$statusCode == 404 || $statusCode == 200', true],
  ['$statusCode == 404 || $statusCode == 200 && false', false],
  ['($statusCode == 404 || $statusCode == 200) && true', true],
  ['{$statusCode == 200}', true],
  ['{$response.body#/count} > 2', true],
  ["$response.body#/status == 'available'", true],
  ['$response.body#/status == "AVAILABLE"', true],
  ["$response.body#/status < 'b'", true],
  ['$response.body#/status == $inputs.name', true],
  ['$response.body#/text == 10', true],
  ["$statusCode == '200'", true],
  ["$statusCode == 'abc'", false],
  ["$statusCode == ''", false],
  ['$response.body#/text > 9', true],
  ["$response.body#/text > '9'", false],
  ["$response.body#/ok == 'TRUE'", true],
  ['$response.body#/ok == 1', false],
  ['$response.body#/ok', true],
  ['!$response.body#/ok', false],
  ['!!$response.body#/ok', true],
  ['!($statusCode == 200)', false],
  ['$response.body#/no', false],
  ['$response.body#/none == null', true],
  ['$response.body#/missing == null', true],
  ['$response.body#/missing != null', false],
  ['$response.body#/missing < 1', false],
  ['$response.body#/none == false', false],
  ["$response.body#/pets/0/name == 'O''Neil'", true],
  ["$response.body.pets[0].name == 'o''neil'", true],
  ["$response.body['count'] == 3", true],
  ['$response.body#/pets[9] == null', true],
  ['$response.header.ETag == \'w/"1"\'', true],
  ['$steps.first.outputs.total > $inputs.limit', true],
  ['-1 < 0 && 1.5e1 == 15', true],
  ['true', true],
  ['null', false],
])('[WF-1] %s is %s', (condition, holds) => {
  expect(evaluateCondition(parseCondition(condition), scope)).toBe(holds);
});

test.each([
  ['', 'ends too early'],
  ['$statusCode ==', 'ends too early'],
  ['$statusCode = 200', 'cannot parse = 200'],
  ['$statusCode == abc', 'cannot parse abc'],
  ["$statusCode == 'abc", "cannot parse 'abc"],
  ['($statusCode == 200', 'not closed'],
  ['$statusCode == 200)', 'unexpected )'],
  ['$nothing == 1', 'not a valid expression'],
  ['process.exit()', 'cannot parse process.exit()'],
  ['$response.body[$statusCode]', 'a number or a name'],
  ['('.repeat(60), 'nested deeper'],
  ['1'.repeat(5000), 'longer than'],
])('%j is not a valid condition', (condition, message) => {
  expect(() => parseCondition(condition)).toThrow(message);
});

describe('criteria', () => {
  const found: string[] = [];
  const unmet = (criteria: PlannedCriterion[], finds = true) =>
    firstUnmet(criteria, scope, async (query) => {
      found.push(query);
      return finds;
    });

  test.each<[string, string, boolean]>([
    ['$statusCode', '^200$', true],
    ['$statusCode', '^4', false],
    ['$response.body#/status', 'vail', true],
    ['$response.body#/status', 'VAIL', false],
    ['$response.body#/pets', 'Neil', true],
    ['$response.body#/missing', '.*', false],
  ])('[WF-1] with a regular expression over %s: %s is %s', async (context, condition, holds) => {
    expect((await unmet([planCriterion({ context, condition, type: 'regex' })])) === undefined).toBe(holds);
  });

  test('[WF-1] must all hold, and the first that does not is named', async () => {
    const criteria = ['$statusCode == 200', '$statusCode == 201', '$statusCode == 202'];
    expect(await unmet(criteria.map((condition) => planCriterion({ condition, type: 'simple' })))).toMatchObject({
      condition: criteria[1],
    });
  });

  test('[WF-1] with a JSONPath query hold if it finds something', async () => {
    const query = planCriterion({ context: '$response.body', condition: '$.pets[?@.name]', type: 'jsonpath' });
    expect(await unmet([query])).toBeUndefined();
    expect(await unmet([query], false)).toBe(query);
    expect(found).toContain('$.pets[?@.name]');
  });

  test.each([
    [{ condition: '//pet', context: '$response.body', type: 'xpath' } as const, 'XPath, which is not supported'],
    [{ condition: '//pet', context: '$response.body', type: { type: 'xpath', version: 'xpath-30' } } as const, 'XPath'],
    [{ condition: '^2', type: 'regex' } as const, 'needs a context'],
    [{ condition: '^2', context: '$nothing', type: 'regex' } as const, 'not a valid expression'],
    [{ condition: '(?=a)', context: '$statusCode', type: 'regex' } as const, 'is invalid'],
    [{ condition: '$[', context: '$response.body', type: 'jsonpath' } as const, 'is invalid'],
    [{ condition: 'a b', type: 'simple' } as const, 'is invalid'],
  ])('that cannot be decided are refused when they are read: %j', (criterion, message) => {
    expect(() => planCriterion(criterion)).toThrow(message);
  });
});

import { describe, expect, test } from 'vitest';
import { exampleCall } from '../../src/cli/example-call.ts';

const tool = (name: string, properties: Record<string, unknown> = {}, more: object = {}) => ({
  name,
  state: 'active',
  input_schema: { type: 'object', properties, required: Object.keys(properties) },
  ...more,
});

describe('the suggested call', () => {
  const values: [property: unknown, argument: string][] = [
    [{ type: 'string' }, 'x=hello'],
    [{ type: 'string', format: 'date' }, 'x=2026-11-17'],
    [{ type: 'string', enum: ['dark red', 'blue'] }, "'x=dark red'"],
    [{ enum: [7, 8] }, 'x=7'],
    [{ type: 'string', default: 'Bonn' }, 'x=Bonn'],
    [{ type: 'string', pattern: '^[A-Z]+$', examples: ['ABC'] }, 'x=ABC'],
    [{ type: 'integer' }, 'x=1'],
    [{ type: 'number', minimum: 4.5 }, 'x=5'],
    [{ type: ['boolean', 'null'] }, 'x=true'],
  ];
  test.each(values)('[CLI-1] has an argument for %j: %s', (property, argument) => {
    expect(exampleCall([tool('a:b', { x: property })])).toBe(`call a:b --arg ${argument}`);
  });

  test.each([
    ['an object', { type: 'object' }],
    ['a pattern', { type: 'string', pattern: '^[A-Z]+$' }],
    ['a format of its own', { type: 'string', format: 'iban' }],
    // --arg would send it as a number.
    ['a text that reads as JSON', { type: 'string', enum: ['5'] }],
    ['words for a shell', { type: 'string', enum: ["'; rm -rf ~ #"] }],
    ['no schema', true],
  ])('[CLI-1] is left out where an argument is %s', (_what, property) => {
    expect(exampleCall([tool('a:b', { x: property })])).toBeUndefined();
  });

  test('[CLI-1] prefers a tool that only reads, and then the one with the fewest arguments', () => {
    const readOnly = { annotations: { readOnlyHint: true } };
    const list = tool('a:list');
    expect(exampleCall([tool('a:two', { x: { type: 'string' }, y: { type: 'string' } }), list])).toBe('call a:list');
    expect(exampleCall([list, tool('a:read', { x: { type: 'string' } }, readOnly)])).toBe('call a:read --arg x=hello');
  });

  test('[CLI-1] is never of a tool that destroys something, is not active, or has a risky name', () => {
    const not = [
      tool('a:delete_all'),
      tool('a:wipe', {}, { annotations: { destructiveHint: true } }),
      tool('a:waits', {}, { state: 'pending' }),
      tool('a:$(id)'),
      tool('a:b', { '$(id)': { type: 'string' } }),
    ];
    expect(exampleCall(not)).toBeUndefined();
  });
});

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelName } from '../../src/inventory/model-name.ts';

const legal = /^[A-Za-z0-9_-]{1,64}$/;
const hashed = /_[0-9a-f]{10}$/;

describe('[NAME-3] the name a model sees', () => {
  test.each([
    ['files', 'read_file', 'files_read_file'],
    ['github', 'create_repository', 'github_create_repository'],
    ['builtin', 'calculator', 'builtin_calculator'],
    ['my-api', 'get-user', 'my-api_get-user'],
    ['a', '_b', 'a__b'],
    ['1', '2', '1_2'],
    ['a', '', 'a_'],
    ['a', 'x'.repeat(62), `a_${'x'.repeat(62)}`],
  ])('of %s and %s is simply %s', (namespace, tool, name) => {
    expect(modelName(namespace, tool)).toBe(name);
  });

  test.each([
    ['capitals', 'github', 'createIssue', 'github_createIssue_'],
    ['a dot', 'github', 'issues.create', 'github_issues_create_'],
    ['a colon', 'a', 'b:c', 'a_b_c_'],
    ['other scripts', 'wetter', 'Temperatur für München', 'wetter_Temperatur_f_r_M_nchen_'],
    ['only other signs', 'a', '天気', 'a___'],
    ['too many letters', 'a', 'x'.repeat(63), `a_${'x'.repeat(51)}_`],
    ['the look of a hashed name', 'a', 'b_0123456789', 'a_b_0123456789_'],
    ['an underscore in the namespace', 'my_server', 'price_order', 'my_server_price_order_'],
  ])('ends in a hash if there is %s', (_why, namespace, tool, beginning) => {
    const name = modelName(namespace, tool);
    expect(name).toMatch(legal);
    expect(name).toMatch(hashed);
    expect(name.startsWith(beginning)).toBe(true);
  });

  test('stays what it was when it was first given out', () => {
    expect(modelName('github', 'createIssue')).toBe('github_createIssue_0a4b9a9797');
    expect(modelName('a', 'x'.repeat(100))).toBe(`a_${'x'.repeat(51)}_86fd9194b1`);
    expect(modelName('my-server', 'price_order')).toBe('my-server_price_order');
    expect(modelName('my_server', 'price_order')).toBe('my_server_price_order_6c0f7890b0');
  });

  const namespace = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,31}$/);
  // Names that are made to be mistaken for one another: few signs, both cases, separators, and endings that look like hashes.
  const sign = fc.constantFrom('a', 'A', 'b', '_', '-', '.', ':', ' ', '2', 'ä', '\u0000', '𝒜', '\u017f', '\u212a');
  const toolName = fc.oneof(
    fc.string({ unit: sign, minLength: 1, maxLength: 6 }),
    fc.string({ unit: sign, minLength: 45, maxLength: 70 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
    fc.tuple(fc.constantFrom('a', 'A', 'x_'), fc.stringMatching(/^[0-9a-f]{10}$/)).map(([start, end]) => `${start}_${end}`),
  );
  const fewNamespaces = fc.oneof(
    fc.constantFrom('a', 'aa', 'a-', '-a', 'a-a', 'a_a', 'a_', 'a__a', 'a_b', 'a'.repeat(32), 'a'.repeat(31)),
    fc.string({ unit: fc.constantFrom('a', 'b', '_', '-'), minLength: 1, maxLength: 4 }).map((rest) => `a${rest}`),
  );

  test('is always legal and always the same', () => {
    fc.assert(
      fc.property(namespace, toolName, (namespace, tool) => {
        const name = modelName(namespace, tool);
        expect(name).toMatch(legal);
        expect(modelName(namespace, tool)).toBe(name);
      }),
      { numRuns: 2000 },
    );
  });

  test('tells any two tools apart, even ignoring case', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fewNamespaces, toolName), { selector: (pair) => pair.join(':'), maxLength: 60 }), (pairs) => {
        const names = new Set(pairs.map(([namespace, tool]) => modelName(namespace, tool).toLowerCase()));
        expect(names.size).toBe(pairs.length);
      }),
      { numRuns: 500 },
    );
  });

  test('cannot be taken by a tool that is named like it', () => {
    fc.assert(
      fc.property(fewNamespaces, toolName, (namespace, tool) => {
        const name = modelName(namespace, tool);
        const within = name.slice(namespace.length + 1);
        if (within === tool) return;
        expect(modelName(namespace, within).toLowerCase()).not.toBe(name.toLowerCase());
        expect(modelName(namespace, name).toLowerCase()).not.toBe(name.toLowerCase());
      }),
      { numRuns: 1000 },
    );
  });

  test('differs for every way to split the same letters into namespace and tool', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '_', '-'), minLength: 3, maxLength: 12 }).map((rest) => `a${rest}`);
    fc.assert(
      fc.property(letters, (written) => {
        const cuts = [...written.matchAll(/_/g)].map(({ index }) => index);
        const names = cuts.map((at) => modelName(written.slice(0, at), written.slice(at + 1)).toLowerCase());
        expect(new Set(names).size).toBe(cuts.length);
      }),
      { numRuns: 2000 },
    );
  });

  test('keeps its namespace in front', () => {
    fc.assert(
      fc.property(namespace, toolName, (namespace, tool) => {
        expect(modelName(namespace, tool).startsWith(`${namespace}_`)).toBe(true);
      }),
    );
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configFileJsonSchema } from '../../src/cli/schema.ts';
import { parseConfigFile } from '../../src/administration/configuration/parse-config-file.ts';
import { serverSettingsSchema } from '../../src/cli/server-settings.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const parse = (text: string) => parseConfigFile(text, { name: 'crib.yaml', server: serverSettingsSchema });

function messageFor(text: string): string {
  try {
    parse(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing is wrong';
}

describe('[SRC-6] toolcrib.yaml', () => {
  test('has empty sections by default and takes names from its keys', () => {
    expect(parse('groups: {clocks: {}}')).toMatchObject({
      server: {},
      wished: { sources: {}, groups: { clocks: { selectors: [], include: [] } }, policies: {}, tests: [] },
    });
    expect(parse('{}').wished.groups).toEqual({});
  });

  const wrong: [string, string, string][] = [
    ['an unknown section', 'sources: {}\nnonsense: 1\n', 'crib.yaml:2:1: nonsense: there is no such field'],
    ['an unknown setting', 'server:\n  prot: 1\n', 'crib.yaml:2:3: server.prot: there is no such field'],
    ['an unknown field', 'groups:\n  a:\n    nam: x\n', 'crib.yaml:3:5: groups.a.nam: there is no such field'],
    [
      'a wrong type',
      'policies:\n  a:\n    enabled: 7\n',
      'crib.yaml:3:5: policies.a.enabled: Invalid input: expected boolean, received number',
    ],
    [
      'a wrong type in a list',
      'tests:\n  - name: a\n    can: [1]\n',
      'crib.yaml:3:11: tests.0.can.0: Invalid input: expected string, received number',
    ],
    ['a name that is none', 'groups:\n  "A b": {}\n', 'crib.yaml:2:3: groups.A b: An id has up to 64 lower-case letters, digits, _ and -'],
    ['a list in place of a map', 'groups: [a]\n', 'crib.yaml:1:1: groups: Invalid input: expected record, received array'],
    ['a secret', 'sources:\n  a:\n    headers:\n      X-Key: abc\n', 'crib.yaml:4:7: sources.a.headers.X-Key: is a secret'],
    ['a text', 'hello', 'crib.yaml:1:1: Invalid input: expected object, received string'],
    ['nothing', '# only a comment\n', 'crib.yaml:1:1: the file is empty'],
    ['a key twice', 'groups: {}\ngroups: {}\n', 'crib.yaml:2:1: the field groups is repeated'],
    ['broken YAML', 'groups: {\n', 'crib.yaml:2:1: '],
    ['two documents', 'groups: {}\n---\ngroups: {}\n', 'crib.yaml:2:'],
    ['an unknown tag', 'groups: !!js/function "x"\n', 'crib.yaml:1:9: Unresolved tag'],
    ['a prototype', 'groups:\n  __proto__: {}\n', 'crib.yaml:2:3: __proto__ cannot be the name of a field'],
    ['a prototype deep inside', 'tests:\n  - name: a\n    claims: {a: [{__proto__: 1}]}\n', 'crib.yaml:3:19: __proto__'],
    ['nesting', `tests: [{name: a, claims: {a: ${'['.repeat(200)}${']'.repeat(200)}}}]`, 'nested too deeply'],
    ['nesting without end', `groups: ${'['.repeat(500_000)}`, 'crib.yaml:1:1: the file is nested too deeply'],
    ['nesting in steps', Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), 'nested too deeply'],
    [
      'sixty thousand sections',
      Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`).join('\n'),
      'crib.yaml:1:1: k0: there is no such field',
    ],
    [
      'thousands of aliases',
      `a: &a 1\n${Array.from({ length: 20_000 }, (_, index) => `b${index}: *a`).join('\n')}`,
      'more than 500 aliases',
    ],
    ['a bomb', bomb(), 'Excessive alias count'],
    ['ten megabytes', `# ${'x'.repeat(10_000_000)}`, 'crib.yaml:1:1: the file is larger than 1048576 bytes'],
  ];
  test.each(wrong)('is refused with the position of the mistake: %s', (_what, text, message) => {
    expect(messageFor(text)).toContain(message);
  });

  test('can use aliases to say things once', () => {
    const { wished } = parse('groups: {a: &a {selectors: [{source: x}]}, b: *a}');
    expect(wished.groups['b']).toEqual(wished.groups['a']);
  });

  test('has a JSON Schema for editors, which is the one in docs (`toolcrib schema` prints it)', () => {
    expect(JSON.parse(readFileSync(join(root, 'docs', 'toolcrib.schema.json'), 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(configFileJsonSchema())),
    );
  });

  test('has an example that is valid', () => {
    expect(Object.keys(parse(readFileSync(join(root, 'examples', 'toolcrib.yaml'), 'utf8')).wished.sources)).toEqual([
      'everything',
      'issues',
      'shop',
      'tracker',
    ]);
  });
});

/** A few lines that are thousands of millions of words when written out. */
function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 10; level++)
    lines.push(
      `a${level}: &a${level} [${Array(9)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  return lines.join('\n');
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requirements } from './requirements.ts';

const packages = join(import.meta.dirname, '..', '..');
const testFiles = readdirSync(packages)
  .map((name) => join(packages, name, 'test'))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.test.ts'));

/** The ids at the beginning of the names of tests: `test('[POL-1] a policy …')`, `describe('[POL-1] [POL-2] …')`, and the like. */
const cited = new Map<string, string>();
for (const file of testFiles) {
  const text = readFileSync(file, 'utf8');
  for (const [, idsOfName = ''] of text.matchAll(/\(\s*['"`]((?:\[[A-Z]+-[A-Z]*\d+\] ?)+)/g)) {
    for (const [, id = ''] of idsOfName.matchAll(/\[([^\]]+)\]/g)) cited.set(id, file);
  }
}

test('every requirement of an area that has been built is verified by some test', () => {
  expect(requirements.filter(({ id, built }) => built && !cited.has(id)).map(({ id }) => id)).toEqual([]);
});

test('every requirement that a test says it verifies exists', () => {
  const known = new Set(requirements.map(({ id }) => id));
  expect([...cited].filter(([id]) => !known.has(id))).toEqual([]);
});

test('no requirement is listed twice', () => {
  expect(new Set(requirements.map(({ id }) => id)).size).toBe(requirements.length);
});

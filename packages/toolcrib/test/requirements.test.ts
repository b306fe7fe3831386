import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageFiles, repository } from './package-files.ts';
import { requirementsPage } from './requirements-page.ts';
import { requirements } from './requirements.ts';

const known = new Set(requirements.map(({ id }) => id));
const files = packageFiles('src', 'test');

/** The ids at the beginning of the names of tests: `test('[POL-1] a policy …')`, `describe('[POL-1] [POL-2] …')`, and the like. */
const verified = new Set<string>();
for (const { text } of files.filter(({ file }) => file.endsWith('.test.ts'))) {
  for (const [, idsOfName = ''] of text.matchAll(/\(\s*['"`]((?:\[[A-Z]+-[A-Z]*\d+\] ?)+)/g)) {
    for (const [, id = ''] of idsOfName.matchAll(/\[([^\]]+)\]/g)) verified.add(id);
  }
}

test('every requirement that is built is verified by some test', () => {
  expect(requirements.filter(({ id, built }) => built && !verified.has(id)).map(({ id }) => id)).toEqual([]);
});

test('every id in brackets, in the source and in the tests, is the id of a requirement', () => {
  const areas = new Set([...known].map((id) => id.replace(/-.*/, '')));
  const tags = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\[([A-Z][A-Z0-9]*)(-[A-Z]*\d+)?\]/g)]
      // A word in brackets that is no area, such as `[OPTIONS]`, is no id.
      .filter(([, area = '', number]) => number !== undefined || areas.has(area))
      .map(([tag]) => ({ file, id: tag.slice(1, -1) })),
  );
  expect(tags.length).toBeGreaterThan(1000);
  expect(tags.filter(({ id }) => !known.has(id))).toEqual([]);
});

test('no requirement is listed twice', () => {
  expect(known.size).toBe(requirements.length);
});

test.each(requirements)('the text of $id is one short sentence', ({ text }) => {
  expect(text.length).toBeLessThanOrEqual(160);
  expect(text).toMatch(/^\S.+[^.]\.$/);
  expect(text).not.toContain('. ');
});

test('docs/requirements.md says what requirements.ts says (`npm run requirements` writes it)', async () => {
  await expect(requirementsPage()).toMatchFileSnapshot(join(repository, 'docs', 'requirements.md'));
});

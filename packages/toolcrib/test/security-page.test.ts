import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'security.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| \d+ \|/.test(line));

test('the security page has every threat once, in order', () => {
  expect(rows.map((row) => Number(row.split('|')[1]))).toEqual(Array.from({ length: Math.max(rows.length, 35) }, (_, index) => index + 1));
});

test.each(rows.map((row) => [row.split('|')[2]?.trim(), row.split('|')[4]?.trim() ?? ''] as const))(
  'the test that shows it is stopped exists: %s',
  (_threat, shownBy) => {
    const files = [...shownBy.matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? '');
    expect([shownBy, files.length > 0 || /^\[below\]\(#|^not yet: /.test(shownBy)]).toEqual([shownBy, true]);
    expect(files.filter((file) => !existsSync(join(import.meta.dirname, file)))).toEqual([]);
  },
);

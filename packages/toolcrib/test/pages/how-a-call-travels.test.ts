import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const docs = join(import.meta.dirname, '..', '..', '..', '..', 'docs');
const page = readFileSync(join(docs, 'how-a-call-travels.md'), 'utf8');
const links = [...page.matchAll(/\[`([^`]+)`\]\(([^)]+)\)/g)].map(([, name = '', path = '']) => ({ name, path }));

/** A function, method, class, interface, type or constant of this name, as opposed to a mere mention. */
function defines(text: string, name: string): boolean {
  const declared = new RegExp(`\\b(?:function|class|interface|type|const) ${name}\\b`);
  const method = new RegExp(`^\\s+(?:async |readonly )?${name}(?:<[^>]*>)?[(:]`, 'm');
  return declared.test(text) || method.test(text);
}

test('every function on the page about the way of a call is in the file it links to', () => {
  expect(links.length).toBeGreaterThan(40);
  const missing = links.filter(({ name, path }) => {
    const file = join(docs, path);
    return !existsSync(file) || !defines(readFileSync(file, 'utf8'), name);
  });
  expect(missing).toEqual([]);
});

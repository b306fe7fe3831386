import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', 'src');
/** The imports of a file at run time, without types. */
const importsOf = (file: string) =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)'/gms)].map(
    (found) => found[1] ?? '',
  );

test('[LC-1] the main entry loads without Node and without the server', () => {
  const reached = new Set(['index.ts']);
  for (const file of reached) for (const path of importsOf(file)) if (path.startsWith('./')) reached.add(path.slice(2));
  const outside = [...reached].flatMap(importsOf).filter((path) => !path.startsWith('./') && !path.startsWith('@langchain/core/'));
  expect(new Set(outside)).toEqual(new Set(['toolcrib/format-for-model']));
  // The rest is the server in the process, and types.
  expect(readdirSync(src).filter((file) => !reached.has(file))).toEqual(['add-mcp-server.ts', 'tool-call.ts']);
});

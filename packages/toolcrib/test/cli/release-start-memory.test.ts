import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const module = new URL('../../src/server/release-start-memory.ts', import.meta.url).href;

/** A program that leaves a heap as loading a server does, and ends when most of it has been given back. */
const program = `
import { getHeapStatistics } from 'node:v8';
import { releaseStartMemory } from ${JSON.stringify(module)};
let garbage = Array.from({ length: 400_000 }, (_, index) => ({ index }));
const before = getHeapStatistics().total_physical_size;
garbage = undefined;
releaseStartMemory();
const waiting = setInterval(() => {
  const after = getHeapStatistics().total_physical_size;
  if (after > before / 2) return;
  clearInterval(waiting);
  console.log(typeof globalThis.gc);
}, 500);
`;

test('an idle server gives back the memory that its start has left over, once', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { timeout: 60_000 });
  expect(stdout.trim()).toBe('undefined');
});

test('waiting for a quiet moment keeps no process alive', async () => {
  const brief = `import { releaseStartMemory } from ${JSON.stringify(module)}; releaseStartMemory(); console.log('ends');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', brief], { timeout: 60_000 });
  expect(stdout.trim()).toBe('ends');
});

/**
 * Loads one group of files after the other, and prints what the process holds after each. `memory.ts` starts it. Not in TypeScript: Node
 * would load what strips the types, which takes as much as a server.
 */
import { enableCompileCache } from 'node:module';

const groups = JSON.parse(process.argv[2] ?? '[]');
// As the server is started: without it, every file is compiled, and the compiler's memory stays.
enableCompileCache(process.argv[3]);

const held = [];
const note = () => {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { rss, heapUsed, external } = process.memoryUsage();
  held.push({ rss, heap: heapUsed + external });
};
note();
for (const files of groups) {
  for (const file of files) await import(file);
  note();
}
console.log(JSON.stringify(held));

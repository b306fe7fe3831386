import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Packages of this workspace use each other as they stand in the source, without a build; the others are found as Node finds them, which
  // knows no `module` condition: what some packages have there is for bundlers and does not load.
  ssr: { resolve: { conditions: ['toolcrib-source', 'node', 'development|production'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts'],
    // Tests start real servers, databases and processes; the machine, and what else it is doing, decides how fast they are.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // One more than the cores of a small machine: somebody always waits for a process to end.
    maxWorkers: 3,
    // For programs that tests start from the source: what was compiled for one is there for the next.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/compiled') },
    // Files share the processes they run in: to load the whole server anew for each took a third of the processor time of the suite.
    isolate: false,
  },
});

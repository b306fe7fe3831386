import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Packages of this workspace use each other as they stand in the source, without a build; the others are what is usual.
  ssr: { resolve: { conditions: ['toolcrib-source', 'module', 'node', 'development|production'] } },
  test: {
    include: ['packages/*/test/**/*.test.ts'],
    // Tests start real servers, databases and processes; the machine decides how fast they are.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});

const measures = 'measures for minutes, and says nothing on a busy machine';

/** Commands on the pages that no test runs, without their comments, and why. */
export const notRun: Record<string, string> = {
  'npm ci': 'takes away the packages under the other tests; .ci/run begins with it',
  'npm test': 'is what runs this',
  'npm run check': 'runs this, after other checks; .ci/run calls it',
  'TOOLCRIB_LEDGER_OUTAGE_MS=15000 npx vitest run packages/toolcrib/test/e2e/ledger.test.ts': 'runs a test that is run anyway, for longer',
  'npm install @toolcrib/langchain @langchain/core': 'needs a release; .ci/installed-package.sh installs what would be released',
  'npm install @toolcrib/embeddings': 'needs a release; .ci/installed-package.sh installs what would be released',
  'npx toolcrib serve --embeddings': 'needs the package installed or built; .ci/installed-package.sh runs it so',
  'npm run bench': measures,
  'npm run bench -- --rounds 3 --seconds 3': measures,
  'npm run bench -- --only calls,list --name try': measures,
  'npm run bench:mcp': measures,
  'npm run bench:mcp -- --rounds 3 --seconds 3': measures,
  'TOOLCRIB_TEST_DOCKER_IMAGE=$(bash .ci/docker-up.sh up) npm run bench:docker': measures,
  'npm run bench:docker -- --samples 10': measures,
  'npm run bench:openapi': measures,
  'npm run bench:openapi -- --rounds 1 --seconds 3': measures,
  'npm run bench:openapi-scale': measures,
  'npm run bench:openapi-import -- packages/toolcrib/test/fixtures/openapi/corpus': measures,
  'npm run bench:exchange': measures,
  'npm run bench:exchange -- --rounds 2 --seconds 2': measures,
  'npm run bench:exchange -- --users 20': measures,
  'npm run bench:bad-sources': measures,
  'npm run bench:search': 'measures; packages/toolcrib/test/inventory/search-recall.test.ts holds what it prints but for the times',
};

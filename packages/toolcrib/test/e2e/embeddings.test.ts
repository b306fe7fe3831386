import { afterAll, expect, test } from 'vitest';
import { startOpenServer } from '../fixtures/open-server.ts';

const plain = await startOpenServer();
const meaning = await startOpenServer({ embeddings: true });
afterAll(() => Promise.all([plain, meaning].map((server) => server[Symbol.asyncDispose]())));

test('[FIND-1] serve --embeddings finds tools by meaning as well, and without it nothing does', async () => {
  const query = 'mathematics';
  expect(await plain.alice.listedNames(`?q=${query}`)).toEqual([]);
  expect(await meaning.alice.listedNames(`?q=${query}`)).toContain('builtin:calculator');
  expect((await meaning.alice.call('builtin:search_tools', { query })).json.text).toContain('builtin:calculator');
});

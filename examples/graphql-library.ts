/**
 * A GraphQL service whose queries and mutations are tools:
 * `npx node --conditions=toolcrib-source examples/graphql-library.ts`
 * The service describes itself, so that its address is all that is registered. A service of your own is registered in the same way.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { buildSchema, graphql } from 'graphql';
import { startServer } from '../packages/toolcrib/src/index.ts';

const schema = buildSchema(`
  type Query {
    "Books of an author, all of them unless one is named"
    books(author: String): [Book!]!
  }
  type Mutation {
    lend(title: String!, to: String!): Book
  }
  type Book { title: String! author: Author! lentTo: String }
  type Author { name: String! born: Int }
`);
const shelley = { name: 'Mary Shelley', born: 1797 };
const books = [
  { title: 'Frankenstein', author: shelley, lentTo: '' },
  { title: 'The Last Man', author: shelley, lentTo: '' },
];
const rootValue = {
  books: ({ author }: { author?: string }) => books.filter((book) => author === undefined || book.author.name === author),
  lend({ title, to }: { title: string; to: string }) {
    const book = books.find((candidate) => candidate.title === title);
    if (book === undefined) throw new Error(`There is no book ${title}`);
    return Object.assign(book, { lentTo: to });
  },
};

const library = createServer((request, response) => {
  void json(request).then(async (body) => {
    const { query, variables } = body as { query: string; variables?: Record<string, unknown> };
    const answer = await graphql({ schema, source: query, variableValues: variables, rootValue });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
}).listen(0, '127.0.0.1');
await once(library, 'listening');
const endpoint = `http://127.0.0.1:${(library.address() as AddressInfo).port}/graphql`;

const dataDir = await mkdtemp(join(tmpdir(), 'toolcrib-example-'));
// With the demo comes a policy that lets everybody use whatever is added.
const toolcrib = await startServer({ dataDir, port: 0, demo: true, drainMs: 0, logLevel: 'silent' });

interface Called {
  success: boolean;
  structured_content: { data: Record<string, unknown> };
  error: { message: string } | null;
}

/** One request to Toolcrib, with the token of a user. */
async function ask<Answer>(username: string, path: string, body: object): Promise<Answer> {
  const authorization = `Bearer ${await toolcrib.mint?.(username)}`;
  const headers = { authorization, 'content-type': 'application/json' };
  return (await (await fetch(toolcrib.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as Answer;
}
const call = (name: string, args: object) => ask<Called>('alice', '/api/bff/tools/call', { name, arguments: args });

try {
  const form = { name: 'Library', source_type: 'graphql', graphql: { endpoint } };
  const source = await ask<{ status: object }>('admin', '/api/sources?wait=30000', form);
  assert.deepEqual(source.status, { state: 'running', tools: 2 });

  // Without a choice a tool asks for what its answer is made of, some levels deep.
  const all = await call('library:books', { author: 'Mary Shelley' });
  assert.deepEqual(all.structured_content.data, { books });
  console.log(`The library has ${books.length} books`);

  // A caller who needs less, or more, says what.
  const titles = await call('library:books', { _select: '{ title }' });
  assert.deepEqual(titles.structured_content.data, { books: books.map(({ title }) => ({ title })) });

  const lent = await call('library:lend', { title: 'Frankenstein', to: 'alice', _select: '{ lentTo }' });
  assert.deepEqual(lent.structured_content.data, { lend: { lentTo: 'alice' } });
  console.log('Alice has borrowed Frankenstein');

  // What the service says went wrong is the failure of the tool.
  const missing = await call('library:lend', { title: 'Dracula', to: 'alice' });
  assert.equal(missing.error?.message, 'There is no book Dracula (at lend)');
} finally {
  await toolcrib.close();
  library.close();
  await rm(dataDir, { recursive: true, force: true });
}
console.log('Done.');

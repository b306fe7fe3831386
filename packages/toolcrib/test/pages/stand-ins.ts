import { randomBytes } from 'node:crypto';
import { freePort } from '../../src/net/free-port.ts';
import { bookPaths, documentOf } from '../fixtures/document-service.ts';
import { startGraphqlService } from '../fixtures/graphql-service.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startEverything } from '../fixtures/mcp/sessions.ts';
import { freshPostgresDatabase } from '../parts.ts';

/** What stands in for the addresses of the pages, which lead nowhere: the words of a page, and what they are replaced with. */
export type StandIns = [words: string, standIn: string][];

/** Real services at addresses of this machine, for as long as the pages are tried. */
export async function startStandIns() {
  await using stack = new AsyncDisposableStack();
  const mcpPort = await freePort('127.0.0.1');
  stack.use(await startEverything('streamableHttp', mcpPort));
  const document = JSON.stringify(documentOf(bookPaths));
  const api = stack.use(
    await startHttpServer((_request, response) => response.setHeader('content-type', 'application/json').end(document)),
  );
  const graphql = stack.use(await startGraphqlService());
  const standIns: StandIns = [
    ['https://graphql.example.org', graphql.origin],
    ['https://mcp.example.com/mcp', `http://127.0.0.1:${mcpPort}/mcp`],
    ['https://api.example.org', api.origin],
    // The same one, under another name.
    ['https://shop.example.org', `http://localhost:${api.port}`],
    ['@example/server-tickets', '@modelcontextprotocol/server-memory'],
    ['/var/lib/toolcrib', '.var-lib-toolcrib'],
    ['/backups', 'backups'],
  ];
  const { TOOLCRIB_TEST_KEYCLOAK_ISSUER: issuer, TOOLCRIB_TEST_DOCKER_IMAGE: image, TOOLCRIB_TEST_POSTGRES_URL: postgres } = process.env;
  if (issuer) standIns.push(['https://id.example.com/realms/staff', issuer]);
  if (image) {
    standIns.push(
      ['ghcr.io/example/tickets:1', image],
      ['tickets-mcp --stdio', 'node /app/fixture/server.js tools'],
      ['--container tools', '--container toolcrib-page-tools'],
      // Its own, so that pages can be tried twice at once.
      ['toolcrib-page-tools', `toolcrib-page-tools-${randomBytes(4).toString('hex')}`],
      ['/srv/server.js', '/app/fixture/server.js tools'],
      // The engine of the tests has no bridge.
      ['--network bridge', '--network none'],
    );
  }
  if (postgres) {
    const [database, moved] = [stack.use(await freshPostgresDatabase()), stack.use(await freshPostgresDatabase())];
    const restored = stack.use(await freshPostgresDatabase('the test'));
    standIns.push(
      ['postgres://toolcrib@db.example.com/toolcrib_moved', moved.url],
      ['postgres://toolcrib@db.example.com/toolcrib_restored', restored.url],
      ['toolcrib_restored', restored.name],
      ['postgres://toolcrib@db.example.com/toolcrib', database.url],
    );
  }
  const kept = stack.move();
  return { standIns, document, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { databaseFileOf } from '../../src/store/data-files.ts';
import type { ServeConfig } from '../../src/server/server-config.ts';
import { startTestServer } from '../running-server.ts';
import { Person, type Shown } from './person.ts';
import { callback, PublicClient, type Tokens } from './public-client.ts';

export type DevelopmentBridge = Awaited<ReturnType<typeof startDevelopmentBridge>>;

/** A server in development, and people who log in at it. */
export async function startDevelopmentBridge(config: Partial<ServeConfig> = {}) {
  const server = await startTestServer(config);
  const secret = () => readFileSync(join(server.dataDir, 'dev-secret'), 'utf8').trim();
  return {
    server,
    url: server.url,
    secret,
    /** Allows the client as one of the users. */
    allow: (person: Person, page: Shown, user = 'alice') => person.submit(page, { answer: 'allow', user, secret: secret() }),
    /** Logs somebody in with a client that is registered. */
    async logIn(
      { id }: PublicClient,
      user = 'alice',
      params: Record<string, string> = {},
    ): Promise<{ client: PublicClient; tokens: Tokens; person: Person }> {
      const client = new PublicClient(server.url, id);
      const person = new Person(callback);
      const tokens = await client.logIn(person, (page) => person.submit(page, { answer: 'allow', user, secret: secret() }), params);
      return { client, tokens, person };
    },
    /** All rows of the bridge's tables, as text. */
    async everythingStored(): Promise<string> {
      using database = new DatabaseSync(databaseFileOf(server.dataDir), { readOnly: true });
      return ['login_records', 'login_grants', 'login_keys']
        .map((table) => JSON.stringify(database.prepare(`select * from ${table}`).all()))
        .join();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
    /** Registers a client, and logs somebody in with it. */
    async logIn(user = 'alice', params: Record<string, string> = {}): Promise<{ client: PublicClient; tokens: Tokens; person: Person }> {
      const client = await PublicClient.register(server.url);
      const person = new Person(callback);
      const tokens = await client.logIn(person, (page) => person.submit(page, { answer: 'allow', user, secret: secret() }), params);
      return { client, tokens, person };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

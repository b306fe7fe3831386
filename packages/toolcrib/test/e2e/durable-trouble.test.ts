import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { pizzeriaAudience } from '../../src/demo/pizzeria-api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { killableServers } from '../fixtures/killable-servers.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startPizzeria } from '../fixtures/pizzeria.ts';
import { exchangeClient } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { until } from '../running-server.ts';

const postgres = part('postgres');
const servers = killableServers();
const { open: openServer, signedIn, finished } = servers;
const polling = { completed_values: ['ready'], failed_values: ['burnt', 'cancelled'], interval_ms: 100, backoff: 1, max_attempts: 600 };
const order = { body: { pizza: 'funghi', count: 2 } };
let pizzerias = 0;

beforeAll(() => {
  const roles = ['orders:read', 'orders:write'];
  servers.issuer.exchanged.claims = { preferred_username: 'user', resource_access: { [pizzeriaAudience]: { roles } } };
});

function openPizzeria(bakeMs: number) {
  const { issuer } = servers.issuer;
  return startPizzeria({ issuer, jwks: `${issuer}/keys`, file: join(servers.folder, `trouble-${++pizzerias}.json`), bakeMs });
}

async function register(admin: ApiClient, url: string): Promise<void> {
  await grantEverything(admin);
  const { json } = await admin.post('/api/sources?wait=30000', {
    name: 'Pizzeria',
    source_type: 'openapi',
    openapi: { url: `${url}/openapi.json`, async_poll: { place_order: polling } },
    credential: { type: 'token_exchange', audience: pizzeriaAudience, ...exchangeClient },
  });
  expect(json).toMatchObject({ namespace: 'pizzeria', status: { state: 'running' } });
}

describe.skipIf(!postgres.available)('[OPS-2] [POLL-2] calls that outlive their server, on PostgreSQL', () => {
  // Seven processes a round: on a busy machine that is slow, and no sign of anything.
  test.each([1, 2])('are all begun when they are the first, on three servers at once (round %i)', { timeout: 360_000 }, async (round) => {
    await using database = await freshPostgresDatabase();
    await using pizzeria = await openPizzeria(100);
    const open = (name: string) => openServer('--data', join(servers.folder, `${name}-${round}`), '--database', database.url);
    await using first = await open('first');
    const { admin } = await signedIn(first);
    await register(admin, pizzeria.url);
    const [second, third] = await Promise.all([open('second'), open('third')]);
    await using _second = second;
    await using _third = third;
    const users = await Promise.all([first, second, third].map(async (server) => (await signedIn(server)).user));
    for (const user of users) await until(async () => (await user.listedNames()).includes('pizzeria:place_order'));
    const begun = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        users[n % 3]!.call('pizzeria:place_order', order, { async: true }, { 'idempotency-key': `first-${n}` }),
      ),
    );
    expect(begun.map(({ status }) => status)).toEqual(begun.map(() => 202));
    const answers = await Promise.all(begun.map(({ json }) => finished(users[0]!, json.call_id)));
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(({ text }) => ['completed', text]));
    expect(pizzeria.orders()).toHaveLength(12);
  });
});

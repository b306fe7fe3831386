import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { pizzeriaAudience } from '../../src/demo/pizzeria-api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { killableServers } from '../fixtures/killable-servers.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startBefore, startPizzeria, type Pizzeria } from '../fixtures/pizzeria.ts';
import { exchangeClient } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part } from '../parts.ts';
import { type ServerProcess, temporaryDirectory, untilSeen } from '../running-server.ts';

const postgres = part('postgres');
const roles = ['orders:read', 'orders:write'];
const usual = { completed_values: ['ready'], failed_values: ['burnt', 'cancelled'], interval_ms: 100, backoff: 1, max_attempts: 600 };
const order = { body: { pizza: 'funghi', count: 2 } };
const servers = killableServers();
const { open: openServer, signedIn, finished } = servers;
let pizzerias = 0;
beforeAll(() => {
  servers.issuer.exchanged.claims = { preferred_username: 'user', resource_access: { [pizzeriaAudience]: { roles } } };
});

const openPizzeria = (bakeMs: number) => {
  const { issuer } = servers.issuer;
  return startPizzeria({ issuer, jwks: `${issuer}/keys`, file: join(servers.folder, `orders-${++pizzerias}.json`), bakeMs });
};

/** Registers the pizzeria, called as the user. */
async function register(admin: ApiClient, openapi: object, profile: object = {}): Promise<void> {
  await grantEverything(admin);
  const credential = { type: 'token_exchange', audience: pizzeriaAudience, ...exchangeClient };
  const form = {
    name: 'Pizzeria',
    source_type: 'openapi',
    openapi: { ...openapi, async_poll: { place_order: { ...usual, ...profile } } },
    credential,
  };
  const { json } = await admin.post('/api/sources?wait=30000', form);
  expect(json).toMatchObject({ namespace: 'pizzeria', status: { state: 'running' } });
}

/** The document of a pizzeria that has never heard of keys, so that an order sent twice is two orders. */
async function documentWithoutKey(pizzeria: Pizzeria): Promise<string> {
  const document = (await (await fetch(`${pizzeria.url}/openapi.json`)).json()) as {
    paths: { '/orders': { post: { parameters?: unknown } } };
  };
  delete document.paths['/orders'].post.parameters;
  return JSON.stringify(document);
}

/** Begins an order and answers its call id once the pizzeria has it. */
async function placeOrder(user: ApiClient, pizzeria: Pizzeria, args: object = order): Promise<string> {
  const { status, json } = await user.call('pizzeria:place_order', args, { async: true });
  expect(status).toBe(202);
  await untilSeen(() => pizzeria.orders().length > 0);
  return json.call_id as string;
}

describe('[POLL-2] a server that is ended while a pizza is in the oven', () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)('with %s continues with it at its next start, and orders it once', async (signal) => {
    await using data = await temporaryDirectory();
    await using pizzeria = await openPizzeria(3000);
    const key = `of-the-caller-${randomBytes(8).toString('hex')}`;
    let callId: string;
    {
      await using server = await openServer('--data', data.path, '--drain', '0');
      const { admin, user } = await signedIn(server);
      await register(admin, { url: `${pizzeria.url}/openapi.json` });
      callId = await placeOrder(user, pizzeria, { ...order, 'Idempotency-Key': key });
      server.child.kill(signal);
      await server.ended;
      // [SEC-4] Neither what was ordered nor as whom can be read from what is kept.
      const files = readdirSync(data.path, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
      const kept = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
      for (const secret of [key, user.token ?? '', ...pizzeria.orders().map(({ id }) => id)]) {
        expect(kept.filter((text) => text.includes(secret))).toEqual([]);
      }
    }
    await using server = await openServer('--data', data.path);
    const { admin, user } = await signedIn(server);
    expect(await finished(user, callId)).toMatchObject({ status: 'completed', result: { status: 'ready', pizza: 'funghi', count: 2 } });
    expect(pizzeria.orders()).toMatchObject([{ idempotency_key: key }]);
    const { calls } = (await admin.get('/api/calls?limit=100')).json;
    expect(calls.filter(({ call_id }: { call_id: string }) => call_id === callId)).toMatchObject([{ status: 'completed' }]);
  });

  /** The answer to the order never comes: the server is killed after the pizzeria has taken it. */
  async function killBeforeAnswer(documentOf: (pizzeria: Pizzeria) => Promise<string>) {
    await using data = await temporaryDirectory();
    await using pizzeria = await openPizzeria(1000);
    let killed: ServerProcess | undefined;
    await using before = await startBefore(pizzeria.url, ({ method }) => {
      if (method !== 'POST' || killed === undefined) return 'pass';
      killed.child.kill('SIGKILL');
      killed = undefined;
      return 'keep';
    });
    let callId: string;
    {
      await using server = await openServer('--data', data.path);
      const { admin, user } = await signedIn(server);
      const document = { text: await documentOf(pizzeria), server_url: before.origin };
      // Its Location names the pizzeria itself, where nothing goes.
      await register(admin, document, { status_url_template: '/orders/{id}' });
      killed = server;
      callId = (await user.call('pizzeria:place_order', order, { async: true })).json.call_id;
      await server.ended;
    }
    await using server = await openServer('--data', data.path);
    const { user } = await signedIn(server);
    return { answer: await finished(user, callId), orders: pizzeria.orders(), callId };
  }

  test('says that the outcome of an order is unknown if it never saw the answer, and orders nothing twice', async () => {
    const { answer, orders } = await killBeforeAnswer(documentWithoutKey);
    expect(answer).toMatchObject({ status: 'unknown', success: false, error: { retryable: false } });
    expect(answer.error.message).toContain('may have');
    expect(orders).toHaveLength(1);
  });

  test('asks again with the same key if the service supports keys', async () => {
    const { answer, orders, callId } = await killBeforeAnswer(async ({ url }) => (await fetch(`${url}/openapi.json`)).text());
    expect(answer).toMatchObject({ status: 'completed', result: { status: 'ready' } });
    expect(orders).toMatchObject([{ idempotency_key: callId }]);
  });
});

describe.skipIf(!postgres.available)('[POLL-2] [OPS-2] a server on PostgreSQL', () => {
  test('leaves the order to another server, which orders it once', async () => {
    await using database = await freshPostgresDatabase();
    await using pizzeria = await openPizzeria(3000);
    const open = (name: string) => openServer('--data', join(servers.folder, name), '--database', database.url);
    await using other = await open('other');
    await using dying = await open('dying');
    const { admin, user } = await signedIn(dying);
    await register(admin, { url: `${pizzeria.url}/openapi.json` });
    const callId = await placeOrder(user, pizzeria);
    dying.child.kill('SIGKILL');
    await dying.ended;
    const { user: same } = await signedIn(other);
    expect(await finished(same, callId)).toMatchObject({ status: 'completed', result: { status: 'ready' } });
    expect(pizzeria.orders()).toHaveLength(1);
  });
});

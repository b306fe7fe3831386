import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createPizzeriaApi, pizzeriaAudience, type PizzeriaInput } from '../../src/demo/pizzeria-api.ts';
import { temporaryDirectory } from '../running-server.ts';

const everything = ['orders:read', 'orders:write'];
const people: Record<string, string[]> = { alice: everything, bob: ['orders:read'], carol: everything };
const url = 'http://pizzeria.example/api';

/** Tokens are names here: whose keys are good is not what this is about. */
function open(parts: Partial<PizzeriaInput> = {}) {
  const clock = { now: 1000 };
  const api = createPizzeriaApi({
    url,
    bakeMs: 1000,
    now: () => clock.now,
    async verify(token) {
      const roles = people[token];
      if (roles === undefined) throw new Error('no such token');
      return { sub: `id-of-${token}`, preferred_username: token, resource_access: { [pizzeriaAudience]: { roles } } };
    },
    ...parts,
  });
  async function ask(token: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const sent: Record<string, string> = { ...headers, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) };
    const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
    const answer = await api.handle({ method, path, body: text, header: (name) => sent[name] });
    return { ...answer, json: answer.body === '' ? null : JSON.parse(answer.body) };
  }
  return { ask, clock };
}

describe('the pizzeria', () => {
  test('shows its menu and its document to everybody', async () => {
    const { ask } = open();
    expect((await ask('', 'GET', '/menu')).json.pizzas[0]).toEqual({ pizza: 'margherita', price: 8.5 });
    expect((await ask('', 'GET', '/openapi.json')).json).toMatchObject({ openapi: '3.1.0', servers: [{ url }] });
  });

  test('accepts an order at once and has it ready later', async () => {
    const { ask, clock } = open();
    const placed = await ask('alice', 'POST', '/orders', { pizza: 'funghi', count: 2 });
    expect(placed).toMatchObject({ status: 202, json: { status: 'received', price: 19, customer: 'alice' } });
    expect(placed.headers.location).toBe(`${url}/orders/${placed.json.id}`);
    const burnt = (await ask('alice', 'POST', '/orders', { pizza: 'diavola', bake: 'dark' })).json.id as string;
    const states: string[] = [];
    for (const now of [1100, 1500, 2000]) {
      clock.now = now;
      states.push((await ask('alice', 'GET', `/orders/${placed.json.id}`)).json.status);
    }
    expect(states).toEqual(['received', 'baking', 'ready']);
    expect((await ask('alice', 'GET', `/orders/${burnt}`)).json).toMatchObject({
      status: 'burnt',
      message: expect.stringContaining('too long'),
    });
  });

  test('hides the orders of other customers', async () => {
    const { ask } = open();
    const { id } = (await ask('alice', 'POST', '/orders', { pizza: 'funghi' })).json as { id: string };
    expect((await ask('bob', 'GET', `/orders/${id}`)).status).toBe(404);
    expect((await ask('carol', 'DELETE', `/orders/${id}`)).status).toBe(404);
    expect((await ask('bob', 'GET', '/orders')).json).toEqual({ orders: [], next_cursor: null });
    expect(await ask('bob', 'POST', '/orders', { pizza: 'funghi' })).toMatchObject({
      status: 403,
      json: { detail: expect.stringContaining('orders:write') },
    });
  });

  test('lists its orders page by page', async () => {
    const { ask } = open();
    for (const pizza of ['margherita', 'funghi', 'diavola']) await ask('alice', 'POST', '/orders', { pizza });
    const first = await ask('alice', 'GET', '/orders?limit=2');
    expect(first.json.orders.map(({ pizza }: { pizza: string }) => pizza)).toEqual(['margherita', 'funghi']);
    expect(first.headers.link).toBe(`<${url}/orders?limit=2&cursor=${first.json.next_cursor}>; rel="next"`);
    const second = await ask('alice', 'GET', `/orders?limit=2&cursor=${first.json.next_cursor}`);
    expect(second.json).toMatchObject({ orders: [{ pizza: 'diavola' }], next_cursor: null });
    expect(second.headers).not.toHaveProperty('link');
  });

  test('makes one order per key, and refuses a key that was used for another order', async () => {
    const { ask } = open();
    const key = { 'idempotency-key': 'k1' };
    const first = await ask('alice', 'POST', '/orders', { pizza: 'funghi' }, key);
    expect((await ask('alice', 'POST', '/orders', { pizza: 'funghi' }, key)).json.id).toBe(first.json.id);
    expect((await ask('carol', 'POST', '/orders', { pizza: 'funghi' }, key)).json.id).not.toBe(first.json.id);
    expect((await ask('alice', 'POST', '/orders', { pizza: 'diavola' }, key)).status).toBe(422);
    expect((await ask('alice', 'GET', '/orders')).json.orders).toHaveLength(1);
  });

  test('cancels orders that are not ready yet', async () => {
    const { ask, clock } = open();
    const place = async () => `/orders/${(await ask('alice', 'POST', '/orders', { pizza: 'funghi' })).json.id}`;
    const [early, late] = [await place(), await place()];
    expect((await ask('alice', 'DELETE', early)).status).toBe(204);
    clock.now = 9000;
    expect((await ask('alice', 'GET', early)).json.status).toBe('cancelled');
    expect((await ask('alice', 'DELETE', late)).status).toBe(409);
  });

  test.each([
    ['no token', '', 'GET', '/orders', undefined, 401],
    ['a bad token', 'mallory', 'POST', '/orders', { pizza: 'funghi' }, 401],
    ['no JSON', 'alice', 'POST', '/orders', '{', 400],
    ['another pizza', 'alice', 'POST', '/orders', { pizza: 'hawaii' }, 400],
    ['too many', 'alice', 'POST', '/orders', { pizza: 'funghi', count: 21 }, 400],
    ['something unknown', 'alice', 'POST', '/orders', { pizza: 'funghi', free: true }, 400],
    ['a bad limit', 'alice', 'GET', '/orders?limit=0', undefined, 400],
    ['an unknown parameter', 'alice', 'GET', '/orders?all=1', undefined, 400],
    ['no such order', 'alice', 'GET', '/orders/x', undefined, 404],
    ['no such place', 'alice', 'GET', '/kitchen', undefined, 404],
    ['no such method', 'alice', 'PATCH', '/orders', undefined, 405],
  ])('refuses %s with a problem', async (_name, token, method, path, body, status) => {
    const { ask } = open();
    const answer = await ask(token, method, path, body);
    expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/problem+json' }, json: { status } });
    expect(answer.json.detail).not.toBe('');
  });

  test('still has its orders after a restart', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'orders.json');
    const before = open({ file });
    const { id } = (await before.ask('alice', 'POST', '/orders', { pizza: 'funghi' })).json as { id: string };
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(1);
    const after = open({ file });
    expect((await after.ask('alice', 'GET', `/orders/${id}`)).json.pizza).toBe('funghi');
  });
});

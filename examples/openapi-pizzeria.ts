/**
 * A service described by OpenAPI, called as the user:
 * `npx node --conditions=toolcrib-source examples/openapi-pizzeria.ts`
 * The pizzeria accepts tokens of the development issuer, and only those issued for it. It answers an order before the pizza is baked;
 * Toolcrib polls until it is ready. Your own service is registered in the same way.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startServer } from '../packages/toolcrib/src/index.ts';

const program = fileURLToPath(new URL('../packages/toolcrib/src/demo/pizzeria-service.ts', import.meta.url));
const dataDir = await mkdtemp(join(tmpdir(), 'toolcrib-example-'));
// The demo includes a policy that lets everybody use every source.
const toolcrib = await startServer({ dataDir, port: 0, demo: true, drainMs: 0, logLevel: 'silent' });
const issuer = `${toolcrib.url}/dev`;
const orders = join(dataDir, 'orders.json');
const pizzeria = spawn(process.execPath, [program, issuer, `${issuer}/jwks`, '0', orders, '1000'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});

interface Called {
  success: boolean;
  status: string;
  text: string;
  result: { id: string; status: string; customer: string; pizza: string; orders: object[] };
  error: { message: string; upstream_status?: number } | null;
}

/** One request to Toolcrib, with the token of a user. */
async function ask<Answer>(username: string, path: string, body?: object): Promise<Answer> {
  const authorization = `Bearer ${await toolcrib.mint?.(username)}`;
  const sent = body && { method: 'POST', body: JSON.stringify(body), headers: { authorization, 'content-type': 'application/json' } };
  const response = await fetch(toolcrib.url + path, sent ?? { headers: { authorization } });
  return (await response.json()) as Answer;
}
const call = (username: string, name: string, args: object = {}) => ask<Called>(username, '/api/bff/tools/call', { name, arguments: args });

try {
  const { value: address } = await createInterface({ input: pizzeria.stdout })[Symbol.asyncIterator]().next();
  // The client with which Toolcrib exchanges tokens; only a user who can read the development issuer's secret gets it.
  const secret = (await readFile(join(dataDir, 'dev-secret'), 'utf8')).trim();
  const basic = { authorization: `Basic ${btoa(`toolcrib-cli:${secret}`)}` };
  const client = (await (await fetch(`${issuer}/client`, { headers: basic })).json()) as object;

  // An administrator registers the address of the document, the credential, and the long-running operation.
  const source = await ask<{ status: object }>('admin', '/api/sources?wait=30000', {
    name: 'Trattoria',
    source_type: 'openapi',
    openapi: {
      url: `${address}/openapi.json`,
      async_poll: { place_order: { completed_values: ['ready'], failed_values: ['burnt', 'cancelled'], interval_ms: 200 } },
    },
    credential: { type: 'token_exchange', audience: 'pizzeria-api', ...client },
  });
  assert.deepEqual(source.status, { state: 'running', tools: 5 });
  const { tools } = await ask<{ tools: { name: string }[] }>('alice', '/api/bff/tools?q=order');
  console.log(`Alice finds ${tools.map(({ name }) => name).join(', ')}`);

  // The answer comes when the pizza is ready, not when the order is accepted.
  const ordered = await call('alice', 'trattoria:place_order', { body: { pizza: 'diavola' } });
  assert.equal(ordered.status, 'completed', ordered.text);
  const { id, status, customer } = ordered.result;
  assert.deepEqual([status, customer], ['ready', 'alice']);
  console.log(`The diavola of ${customer} is ${status}`);

  // The pizzeria sees who calls: bob does not find alice's order.
  assert.equal((await call('alice', 'trattoria:get_order', { id })).result.pizza, 'diavola');
  const refused = await call('bob', 'trattoria:get_order', { id });
  assert.deepEqual([refused.success, refused.error?.upstream_status], [false, 404]);
  assert.deepEqual((await call('bob', 'trattoria:list_orders')).result.orders, []);

  // A burnt pizza is a failure of the service, reported in its own words.
  const burnt = await call('alice', 'trattoria:place_order', { body: { pizza: 'funghi', bake: 'dark' } });
  assert.match(burnt.error?.message ?? '', /too long/);
} finally {
  pizzeria.kill();
  await toolcrib.close();
  await rm(dataDir, { recursive: true, force: true });
}
console.log('Done.');

/**
 * MCP servers inside your own application, without a Toolcrib server:
 * `npx node --conditions=toolcrib-source examples/embed-mcp-service.ts`
 * In your own project, import from 'toolcrib'.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CribError, openMcpService } from '../packages/toolcrib/src/index.ts';

const demo = fileURLToPath(new URL('../packages/toolcrib/src/demo/demo-server.ts', import.meta.url));
const dataDir = await mkdtemp(join(tmpdir(), 'toolcrib-example-'));
try {
  await using service = await openMcpService({ dataDir });

  // Any form of registration: a package ({ mcp: { package: … } }), a plugin directory, an address, or a command.
  const { id } = await service.create({
    name: 'Pizzeria',
    mcp_command: [process.execPath, demo],
    mcp_lifecycle_mode: 'singleton',
    register_resources_as_tools: true,
  });
  await service.start(id);
  const status = service.status(id);
  assert.equal(status.state, 'running');

  const tools = service.availableTools().map(({ name }) => name);
  console.log(`Running with ${tools.join(', ')}`);
  assert.deepEqual(tools, ['pizzeria:bake_pizza', 'pizzeria:book_table', 'pizzeria:price_order', 'pizzeria:resource_menu']);

  const provider = service.findToolProvider('price_order');
  assert.equal(provider, id);
  const answer = await service.callTool(id, 'price_order', { items: [{ pizza: 'diavola', count: 2 }] }, { timeoutMs: 10_000 });
  assert.deepEqual(answer.structured_content, { lines: [{ pizza: 'diavola', count: 2, price: 22 }], total: 22, currency: 'EUR' });
  console.log(`Two diavola: ${answer.text}`);

  // A failed call throws an error whose class says what went wrong, with the whole answer in it.
  await assert.rejects(service.callTool(id, 'price_order', { items: [{ pizza: 'quattro', count: 1 }] }), (error) => {
    assert.ok(error instanceof CribError);
    console.log(`No quattro: ${error.name}, ${error.message}`);
    return true;
  });

  // A cancelled call throws the reason of its signal.
  const cancel = new AbortController();
  const baking = service.callTool(id, 'bake_pizza', { pizza: 'funghi', seconds: 60 }, { signal: cancel.signal });
  cancel.abort();
  await assert.rejects(baking, { name: 'AbortError' });

  await service.shutdownAll();
  assert.deepEqual(service.status(id), { state: 'stopped' });
  assert.deepEqual(service.availableTools(), []);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
console.log('Done.');

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { serveBanner } from '../../src/cli/serve-banner.ts';
import { usualConfig } from '../../src/server/server-config.ts';
import { frame } from '../../src/sources/mcp/transports/message-reader.ts';
import { openOver, openProgram, textOf } from '../fixtures/mcp/sessions.ts';
import { fixture, fixtureRules } from '../fixtures/open-server.ts';
import { processParts } from '../fixtures/mcp/start-fixture.ts';
import { startServerProcess } from '../../src/sources/mcp/process/server-process.ts';
import { createStdioTransport } from '../../src/sources/mcp/transports/stdio.ts';
import { startServerWithIssuer, adminClaims, startTestServer, temporaryDirectory, until, userClaims } from '../running-server.ts';

const program = fileURLToPath(new URL('../../src/demo/demo-server.ts', import.meta.url));
const names = ['demo:bake_pizza', 'demo:book_table', 'demo:price_order', 'demo:resource_menu'];

describe('the demo of a development server', () => {
  test('is a real MCP server that everybody may use, with structured answers, progress, a question and a resource', async () => {
    await using server = await startTestServer({ demo: true });
    const alice = await server.as('alice');
    await until(async () => (await alice.listedNames()).includes('demo:price_order'));
    expect((await alice.listedNames()).filter((name) => name.startsWith('demo:'))).toEqual(names);
    const order = { items: [{ pizza: 'margherita', count: 2 }] };
    expect((await alice.call('demo:price_order', order)).json.result).toMatchObject({ total: 17, currency: 'EUR' });
    expect((await alice.call('demo:price_order', { items: [{ pizza: 'hawaii', count: 1 }] })).status).toBe(400);
    expect((await alice.call('demo:resource_menu')).json.text).toContain('- funghi: 9.50 EUR');

    await using baking = await alice.callStream('demo:bake_pizza', { pizza: 'funghi', seconds: 0 });
    const seen: string[] = [];
    for (let event = await baking.next(); event !== undefined; event = await baking.next()) seen.push(event.event ?? '');
    expect(seen).toEqual([...Array<string>(5).fill('progress'), 'result']);

    await using booking = await alice.callStream('demo:book_table', { day: 'Friday' });
    const question = (await booking.next())?.data as { call_id: string; elicitation_id: string };
    const answer = { action: 'accept', content: { guests: 4 } };
    await alice.post(`/api/bff/calls/${question.call_id}/elicitations/${question.elicitation_id}`, answer);
    expect((await booking.next())?.data).toMatchObject({ text: 'A table for 4 is booked for Friday.' });
    // Nobody is there to be asked in a plain call.
    expect((await alice.call('demo:book_table', { day: 'Friday' })).json.text).toBe('No table was booked.');
  });

  test('[CLI-1] counts among the tools in the banner, which names sources that are still starting', async () => {
    await using server = await startTestServer({ demo: true });
    const told = async (text: RegExp) =>
      expect(await serveBanner({ ...usualConfig, dataDir: server.dataDir }, server.running)).toMatch(text);
    const alice = await server.as('alice');
    await server.running.inventory(60_000);
    const { length } = await alice.listedNames();
    expect(length).toBeGreaterThan(names.length + 11);
    await told(new RegExp(`Tools +${length}$`, 'm'));
    const admin = await server.as('admin');
    await admin.post('/api/sources', { name: 'Slow', mcp_command: fixture('hang-handshake') });
    expect(await server.running.inventory(0)).toEqual({ tools: length, starting: ['slow'] });
    await told(new RegExp(`Tools +${length} so far; still starting: slow$`, 'm'));
  });

  test('lets everybody use new sources, and stays away once it is deleted', async () => {
    await using data = await temporaryDirectory();
    {
      await using server = await startTestServer({ demo: true, dataDir: data.path });
      const [admin, bob] = await Promise.all([server.as('admin'), server.as('bob')]);
      await admin.post('/api/sources?wait=30000', { name: 'Mine', mcp_command: fixture('plain') });
      expect(await bob.call('mine:echo', { text: 'for bob' })).toMatchObject({ json: { text: 'for bob' } });
      await until(async () => (await admin.get('/api/sources/demo')).json?.status.state === 'running');
      expect((await admin.delete('/api/sources/demo')).status).toBe(204);
      expect((await admin.delete('/api/policies/users-use-every-tool')).status).toBe(204);
    }
    await using server = await startTestServer({ demo: true, dataDir: data.path });
    const [admin, bob] = await Promise.all([server.as('admin'), server.as('bob')]);
    expect(server.running.demo).toBe(false);
    await until(async () => (await admin.get('/api/sources/mine')).json.status.state === 'running');
    expect((await admin.get('/api/sources/demo')).status).toBe(404);
    expect((await bob.listedNames()).filter((name) => !name.startsWith('builtin:'))).toEqual([]);
  });

  test('follows its program when that has moved', async () => {
    await using data = await temporaryDirectory();
    {
      await using server = await startTestServer({ demo: true, dataDir: data.path });
      const admin = await server.as('admin');
      await until(async () => (await admin.get('/api/sources/demo')).json?.status.state === 'running');
      const moved = { name: 'Pizzeria', namespace: 'demo', mcp_command: [process.execPath, '/gone/demo-server.js'] };
      expect((await admin.put('/api/sources/demo', moved)).status).toBe(200);
    }
    await using server = await startTestServer({ demo: true, dataDir: data.path });
    const admin = await server.as('admin');
    await until(async () => (await admin.get('/api/sources/demo')).json.status.state === 'running');
    expect((await admin.get('/api/sources/demo')).json).toMatchObject({
      name: 'Pizzeria',
      definition: { command: [process.execPath, program] },
    });
  });

  test('is missing in production, where nobody may use a new source until a policy says so', async () => {
    await using production = await startServerWithIssuer({ demo: true, runRules: fixtureRules });
    const [admin, user] = await Promise.all([production.signedIn(adminClaims), production.signedIn(userClaims)]);
    await admin.post('/api/sources?wait=30000', { name: 'Mine', mcp_command: fixture('plain') });
    expect((await admin.get('/api/sources')).json.sources.map(({ namespace }: { namespace: string }) => namespace)).toEqual([
      'builtin',
      'mine',
    ]);
    expect(await user.listedNames()).not.toContain('mine:echo');
    expect((await user.call('mine:echo', { text: 'x' })).status).toBe(404);
  });
});

describe('[MCP-3] the demo server', () => {
  test('speaks in lines', async () => {
    await using opened = await openProgram([program]);
    expect(opened.session.info).toMatchObject({ name: 'toolcrib-demo', protocol_version: '2025-11-25' });
    expect(await textOf(opened.session, 'bake_pizza', { pizza: 'funghi', seconds: 0 })).toBe('Your pizza funghi is ready.');
  });

  test('speaks in Content-Length frames', async () => {
    using parts = processParts();
    const server = await startServerProcess({ ...parts, command: [process.execPath, program] });
    await using opened = await openOver(createStdioTransport({ process: server, framing: 'content-length' }));
    expect(await textOf(opened.session, 'bake_pizza', { pizza: 'funghi', seconds: 0 })).toBe('Your pizza funghi is ready.');
  });

  test('answers unknown methods with an error, and ends with its input', async () => {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    for (const [id, method, params] of [
      [1, 'no/such', {}],
      [2, 'tools/call', { name: 'toString' }],
      [3, 'resources/read', { uri: 'file:///etc/passwd' }],
    ]) {
      child.stdin.write(frame(JSON.stringify({ jsonrpc: '2.0', id, method, params }), 'lines'));
    }
    child.stdin.end();
    expect(await once(child, 'close')).toEqual([0, null]);
    const answers = Buffer.concat(output).toString().trim().split('\n');
    expect(answers.map((line) => (JSON.parse(line) as { error: { code: number } }).error.code)).toEqual([-32601, -32602, -32002]);
  });
});

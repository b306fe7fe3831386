import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

let server: OpenServer;
let folder: string;
beforeAll(async () => {
  server = await startOpenServer();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'first-starts-'));
  return () => rmSync(folder, { recursive: true });
});
afterAll(() => server[Symbol.asyncDispose]());

/** A program of this name that notes each of its starts and then does this. */
function program(name: string, body: string): string {
  const path = join(folder, name);
  const note = `require('node:fs').appendFileSync(${JSON.stringify(join(folder, 'starts'))}, 'x');`;
  writeFileSync(path, `#!${process.execPath}\n${note}\n${body}\n`, { mode: 0o755 });
  return path;
}
const starts = () => readFileSync(join(folder, 'starts'), 'utf8').length;
const register = async (form: object) => (await server.admin.post('/api/sources?wait=60000', form)).json;
const wordsOf = async (id: string): Promise<string[]> => {
  const { lines } = (await server.admin.get(`/api/sources/${id}/logs?lines=1000`)).json;
  return lines.flatMap(({ stream, text }: { stream: string; text: string }) => (stream === 'stderr' ? [text] : []));
};

const fetching = "console.error('npm warn deprecated left-pad@1.0.0'); setInterval(() => undefined, 1000);";

test('[ERR-4] [MCP-3] an npx that still downloads is not started twice, and the timeout says how long it took, its output, and what to raise', async () => {
  const npx = program('npx', fetching);
  const body = { name: 'Fetched', mcp_command: [npx, '-y', 'a-package'], resilience: { startupTimeoutMs: 1500 } };
  const { status } = await register(body);
  expect(status).toMatchObject({ state: 'error', code: 'NETWORK_ERROR' });
  expect(status.message).toMatch(
    /^Handshake timed out after 1\.5 s\. npx may still have been fetching the package: raise `startupTimeoutMs`/,
  );
  expect(status.message).toMatch(/`--startup-timeout`.*\nnpm warn deprecated left-pad@1\.0\.0$/s);
  expect(starts()).toBe(1);
});

test('[ERR-4] any other program that stays silent gets the same message', async () => {
  const slow = program('slow', "console.error('loading the model'); setInterval(() => undefined, 1000);");
  const { status } = await register({ name: 'Slow', mcp_command: [slow], resilience: { startupTimeoutMs: 900 } });
  expect(status.message).toMatch(
    /^Handshake timed out after 0\.9 s\. If it needs longer to start, raise .*--startup-timeout.*\nloading the model$/s,
  );
});

test('[LIFE-1] while npx downloads, the status of the source says so, for how long, and its last output', async () => {
  const npx = program('npx', fetching);
  const { status } = await server.admin.post('/api/sources', { name: 'Shown', mcp_command: [npx, '-y', 'a-package'] });
  expect(status).toBe(201);
  const shown = async () => (await server.admin.get('/api/sources/shown')).json.status;
  await expect.poll(shown, { timeout: 60_000 }).toEqual({
    state: 'starting',
    message: expect.stringMatching(/^npx is fetching or starting it: \d+ s, of at most 60 s\. It last wrote: npm warn deprecated/),
  });
  await server.admin.delete('/api/sources/shown');
});

const ends = (words: string) => `process.stdin.on('data', () => { console.error(${JSON.stringify(words)}); process.exit(1); });`;

test.each([
  ['a package that nobody has', 'npx', 'npm error code E404\nnpm error 404 Not Found', 'NOT_FOUND', /^Package not found/],
  ['a version that nobody has', 'npx', 'npm error code ETARGET', 'NOT_FOUND', /^Package not found/],
  ['packages that do not go together', 'uvx', '  × No solution found when resolving tool dependencies:', 'SERVICE_UNAVAILABLE', /code 1/],
  ['a value that is wanting', 'tickets', 'Error: TICKETS_TOKEN is required', 'SERVICE_UNAVAILABLE', /TICKETS_TOKEN is required/],
])('[ERR-5] a server that ends by itself is started once: %s', async (_why, name, words, code, message) => {
  const path = program(name, ends(words));
  const { id, status } = await register({ name: `Ends ${code}`, mcp_command: [path, ...(name === 'tickets' ? [] : ['a-package'])] });
  expect(status).toMatchObject({ state: 'error', code, message: expect.stringMatching(message) });
  expect(starts()).toBe(1);
  expect((await wordsOf(id)).join('\n')).toBe(words);
  await server.admin.delete(`/api/sources/${id}`);
});

test('[MCP-1] a server that may have ended on our first question is started once more, as one of an old revision', async () => {
  const old = program('old', ends('Traceback (most recent call last):\n  File "session.py", line 3, in received\nRuntimeError'));
  expect((await register({ name: 'Old', mcp_command: [old] })).status).toMatchObject({ state: 'error' });
  expect(starts()).toBe(2);
});

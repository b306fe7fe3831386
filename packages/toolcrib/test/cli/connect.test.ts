import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProtectedServer } from '../fixtures/mcp/protected-server.ts';
import { startOAuthServer, type OAuthServer } from '../fixtures/oauth-server.ts';
import { until } from '../running-server.ts';
import { startSourceCommands } from './source-commands.ts';

let commands: Awaited<ReturnType<typeof startSourceCommands>>;
let oauth: OAuthServer;
let wiki: Awaited<ReturnType<typeof startProtectedServer>>;
beforeAll(async () => {
  oauth = await startOAuthServer();
  wiki = await startProtectedServer(oauth);
  commands = await startSourceCommands();
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await wiki[Symbol.asyncDispose]();
  await oauth[Symbol.asyncDispose]();
});

/** Runs the command, and allows what it asks for. */
async function connect(args: string[], user: string) {
  await using program = commands.start(['connect', 'wiki', ...args]);
  const url = (await program.printed('\n')).trim();
  await fetch(await oauth.login(url, user));
  return await program.ended;
}

test('[CLI-1] a source that everybody uses for themselves says how it is connected, and is', async () => {
  const { code, stderr } = await commands.run(['add', wiki.url, '--name', 'wiki', '--oauth']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('`toolcrib connect wiki --discovery --as admin` does it.')]);
  expect((await commands.run(['sources'])).stdout).toMatch(
    /^wiki +running +unknown +0 +streamable_http +The connection of wiki itself is not there/m,
  );
  expect((await commands.run(['sources', 'show', 'wiki'])).stdout).toMatch(/^Note +The connection of wiki itself/m);
  expect(await connect(['--discovery', '--as', 'admin'], 'robot')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('wiki is connected.'),
  });
  await until(async () => (await commands.json(['sources', 'show', 'wiki'])).status.tools === 3);
  expect((await commands.run(['connect', '--as', 'admin'])).stdout).toMatch(
    /^wiki +not connected +calls +wiki\nwiki +connected +discovery +wiki$/m,
  );
});

test('[CLI-1] Ctrl-C ends the waiting, and connect --end the connection', async () => {
  await using program = commands.start(['connect', 'wiki', '--as', 'admin']);
  await program.printed('Waiting', 'stderr');
  program.child.kill('SIGINT');
  expect(await program.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('The address works for ten minutes.') });
  expect((await connect(['--as', 'admin'], 'root')).code).toBe(0);
  // Again: the one that is there does not count.
  expect((await connect(['--as', 'admin'], 'root')).code).toBe(0);
  expect(await commands.run(['connect', 'wiki', '--end', '--as', 'admin'])).toMatchObject({
    code: 0,
    stdout: 'The connection to wiki is ended.\n',
  });
  expect(await commands.run(['connect', 'wiki', '--end', '--as', 'admin'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('could be ended'),
  });
  const unknown = await commands.run(['connect', 'nothing', '--as', 'admin']);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('There is no source "nothing" that wants a connection of yours'),
  ]);
  expect((await commands.run(['connect', '--as', 'bob'])).stderr).toContain('No source that you may use wants a connection.');
});

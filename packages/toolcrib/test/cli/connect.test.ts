import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOn } from '../fixtures/connect.ts';
import { startProtectedServer } from '../fixtures/mcp/protected-server.ts';
import { startOAuthServer, type OAuthServer } from '../fixtures/oauth-server.ts';
import { until } from '../running-server.ts';
import { atTerminal, hasTerminal } from './at-terminal.ts';
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

/** Allows it in a browser, which is then at the last page. */
async function lastPage(authorizationUrl: string, user: string): Promise<string> {
  return (await fetch(await oauth.login(authorizationUrl, user))).text();
}

/** Where the last page has the code taken to. */
const linkOn = (page: string) => /href="(http:\/\/127[^"]+)"/.exec(page)?.[1] ?? '';

/** Runs the command, allows what it asks for, and follows the link on the last page. */
async function connect(args: string[], user: string) {
  await using program = commands.start(['connect', 'wiki', ...args]);
  const page = await lastPage((await program.printed('\n')).trim(), user);
  // Any page in a browser could come by with a wrong code.
  const wrong = await fetch(linkOn(page).replace(/code=.*/, 'code=AAAA-AAAA-AAAA-AAAA'));
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('This is not the code that the page shows')]);
  expect((await fetch(new URL('/', linkOn(page)))).status).toBe(404);
  expect(await (await fetch(linkOn(page))).text()).toContain('<h1>Connected</h1>');
  return await program.ended;
}

test('[CLI-1] a source with per-user accounts says how to connect, and can be connected', async () => {
  const { code, stderr } = await commands.run(['add', wiki.url, '--name', 'wiki', '--oauth']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('`toolcrib connect wiki --discovery --as admin` connects it.')]);
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

test('[CLI-1] Ctrl-C ends the waiting, and connect --end ends the connection', async () => {
  await using program = commands.start(['connect', 'wiki', '--as', 'admin']);
  await program.printed('Waiting', 'stderr');
  const page = await lastPage((await program.printed('\n')).trim(), 'root');
  program.child.kill('SIGINT');
  expect(await program.ended).toMatchObject({
    code: 130,
    stderr: expect.stringContaining('`toolcrib connect wiki --code CODE` finishes it'),
  });
  expect(await commands.run(['connect', 'wiki', '--code', codeOn(page), '--as', 'admin'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('wiki is connected.'),
  });
  expect((await connect(['--as', 'admin'], 'root')).code).toBe(0);
  // Again: the one that is there does not count.
  expect((await connect(['--as', 'admin'], 'root')).code).toBe(0);
  expect((await commands.run(['connections'])).stdout).toMatch(/^USER +SOURCE +SINCE +SUBJECT\nadmin +wiki +20\S+ +\S+\n$/);
  expect(await commands.run(['connections', 'admin', '--end'])).toMatchObject({
    code: 0,
    stdout: 'One connection of admin ended.\n',
  });
  expect((await commands.run(['connections', 'admin', '--end'])).stderr).toContain('admin has no such connection');
  expect((await connect(['--as', 'admin'], 'root')).code).toBe(0);
  expect(await commands.run(['connect', 'wiki', '--end', '--as', 'admin'])).toMatchObject({
    code: 0,
    stdout: 'The connection to wiki has ended.\n',
  });
  expect(await commands.run(['connect', 'wiki', '--end', '--as', 'admin'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no connection to'),
  });
  const unknown = await commands.run(['connect', 'nothing', '--as', 'admin']);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('There is no source "nothing" that needs your own connection'),
  ]);
  expect((await commands.run(['connect', '--as', 'bob'])).stderr).toContain('None of the sources you may use needs a connection.');
});

test.skipIf(!hasTerminal)('[CLI-1] the code is pasted at a terminal, and a wrong one can be tried again', async () => {
  const shown = await atTerminal(['connect', 'wiki', '--as', 'admin'], commands.server.url, {
    question: 'Code: ',
    answer: async (soFar) => `AAAA-BBBB\r${codeOn(await lastPage(/http:\S+/.exec(soFar)?.[0] ?? '', 'root'))}\r`,
  });
  expect(shown).toContain('This is not the code that the page shows');
  expect(shown).toContain('wiki is connected.');
});

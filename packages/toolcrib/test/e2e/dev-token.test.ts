import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signClientAssertion, assertionType } from '../../src/identity/development/client-assertion.ts';
import { runToolcrib } from '../cli/run-toolcrib.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startTestServer, temporaryDirectory, type TestServer } from '../running-server.ts';

const client = 'toolcrib-cli';
let server: TestServer;
let secretFile: string;
let secret: string;

beforeAll(async () => {
  server = await startTestServer();
  secretFile = join(server.dataDir, 'dev-secret');
  secret = readFileSync(secretFile, 'utf8').trim();
});
afterAll(() => server[Symbol.asyncDispose]());

async function ask(form: Record<string, string>) {
  const body = new URLSearchParams({ grant_type: 'password', username: 'admin', ...form });
  const response = await fetch(`${server.url}/dev/token`, { method: 'POST', body });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}
const asserted = (client_assertion: string) => ({ client_assertion_type: assertionType, client_assertion });

test.skipIf(process.platform === 'win32')(
  '[ID-1] the secret of the development issuer is readable only for the user who runs the server',
  () => {
    expect(statSync(secretFile).mode & 0o777).toBe(0o600);
  },
);

test('[ID-1] another user of the machine, who cannot read the secret, gets no token and no client', async () => {
  const other = 'x'.repeat(43);
  const attempts: Record<string, string>[] = [
    {},
    { client_id: client },
    { client_id: client, client_secret: other },
    { client_id: client, ...asserted('x.y.z') },
    asserted(await signClientAssertion({ client, secret: other, audience: `${server.url}/dev/token` })),
    // One that another server on this machine was sent, and passes on.
    asserted(await signClientAssertion({ client, secret, audience: 'http://127.0.0.1:1/dev/token' })),
    asserted(await signClientAssertion({ client: 'toolcrib-gateway', secret, audience: `${server.url}/dev/token` })),
  ];
  for (const attempt of attempts) {
    const { status, json } = await ask(attempt);
    expect([attempt, status, json]).toEqual([
      attempt,
      401,
      { error: 'invalid_client', error_description: expect.stringContaining(secretFile) },
    ]);
  }
  expect((await fetch(`${server.url}/dev/client`)).status).toBe(401);
});

test('[ID-1] a token is issued for the secret, or a signature by it', async () => {
  const audience = `${server.url.replace('127.0.0.1', 'localhost')}/dev/token`;
  for (const shown of [{ client_id: client, client_secret: secret }, asserted(await signClientAssertion({ client, secret, audience }))]) {
    const { status, json } = await ask(shown);
    expect([status, json]).toEqual([200, expect.objectContaining({ access_token: expect.any(String) })]);
  }
  const headers = { authorization: `Basic ${btoa(`${client}:${secret}`)}` };
  expect(await (await fetch(`${server.url}/dev/client`, { headers })).json()).toMatchObject({ client_id: 'toolcrib-gateway' });
});

test('[CLI-1] the command line finds the secret from any folder, and says what to do when it may not read it', async () => {
  await using elsewhere = await temporaryDirectory();
  const run = () => runToolcrib(['token', 'alice', '--url', server.url], { cwd: elsewhere.path });
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+\.\S+\.\S+\n$/) });
  rmSync(secretFile);
  try {
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/dev-secret, cannot be read \(ENOENT\): run this as the user who runs the server, or pass a token/),
    });
  } finally {
    writeFileSync(secretFile, secret, { mode: 0o600 });
  }
});

test('[CLI-1] another server on that address gets neither the secret nor any other file', async () => {
  await using folder = await temporaryDirectory();
  writeFileSync(join(folder.path, 'diary'), 'dear diary');
  let claimed = secretFile;
  const sent: string[] = [];
  await using rogue = await startHttpServer((request, response) => {
    const place = sent.push('') - 1;
    request.on('data', (chunk: Buffer) => (sent[place] += chunk.toString()));
    response.writeHead(request.method === 'GET' ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ toolcrib_secret_file: claimed, error: 'x', error_description: 'thank you' }));
  });
  const run = () => runToolcrib(['token', 'admin', '--url', rogue.origin]);
  expect((await run()).stderr).toContain('thank you');
  const [, passedOn = ''] = sent;
  expect(passedOn).not.toContain(secret);
  expect((await ask(Object.fromEntries(new URLSearchParams(passedOn)))).status).toBe(401);
  claimed = join(folder.path, 'diary');
  expect((await run()).stderr).toContain('it does not hold a secret');
  expect(sent).toHaveLength(3);
});

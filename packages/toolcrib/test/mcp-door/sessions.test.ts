import { expect, test } from 'vitest';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { startTestServer, temporaryDirectory, userClaims, type TestServer } from '../running-server.ts';

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

async function send({ url }: TestServer, token: string, method: string, session?: string, body?: object) {
  const response = await fetch(`${url}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  await response.text();
  return { status: response.status, session: response.headers.get('mcp-session-id') ?? '' };
}

test('[DOOR-4] a session outlives a restart of the server, and one that has ended stays ended', async () => {
  await using folder = await temporaryDirectory();
  await using issuer = await startTokenIssuer();
  const config = { dataDir: folder.path, issuers: [issuer.config], mcpDoor: true };
  const token = await issuer.sign(userClaims);
  const sessions = { kept: '', ended: '' };
  {
    await using server = await startTestServer(config);
    sessions.kept = (await send(server, token, 'POST', undefined, initialize)).session;
    sessions.ended = (await send(server, token, 'POST', undefined, initialize)).session;
    expect((await send(server, token, 'DELETE', sessions.ended)).status).toBe(200);
  }
  await using server = await startTestServer(config);
  // Several at once, of which the first asks the database.
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(server, token, 'POST', sessions.kept, ping)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const refusals = await Promise.all(Array.from({ length: 20 }, () => send(server, token, 'POST', sessions.ended, ping)));
  expect(new Set(refusals.map(({ status }) => status))).toEqual(new Set([404]));
}, 60_000);

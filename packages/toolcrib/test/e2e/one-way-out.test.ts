import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { connect } from '../fixtures/connect.ts';
import { startProtectedServer } from '../fixtures/mcp/protected-server.ts';
import { startOAuthServer } from '../fixtures/oauth-server.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { adminClaims, spawnServer, temporaryDirectory, userClaims } from '../running-server.ts';

const poison = fileURLToPath(new URL('../fixtures/poison.ts', import.meta.url));

test('[SEC-1] a server whose every other way out is blocked still reaches its issuer, MCP servers and authorization servers', async () => {
  await using issuer = await startTokenIssuer();
  await using oauth = await startOAuthServer();
  await using wiki = await startProtectedServer(oauth);
  await using folder = await temporaryDirectory();
  const { audience } = issuer.config;
  const args = ['--data', folder.path, '--issuer', issuer.issuer, '--audience', audience, '--allow-network', 'loopback'];
  await using server = await spawnServer([...args, '--docker-host', `unix://${folder.path}/no.sock`], {
    NODE_OPTIONS: `--import=${poison}`,
  });
  const admin = server.client(await issuer.sign(adminClaims));
  const user = server.client(await issuer.sign(userClaims));
  await grantEverything(admin);
  oauth.addClient('robot', 'secret');
  const robot = { type: 'client_credentials', client_id: 'robot', client_secret: 'secret' };

  const { json } = await admin.post('/api/sources?wait=20000', { name: 'Found', mcp_server_url: wiki.url, credential: robot });
  expect(json.status).toMatchObject({ state: 'running' });
  expect((await user.call('found:whoami')).json.text).toBe('robot');
  // A token that is not for this server is refused there, but it has to be fetched first.
  const named = { ...robot, token_url: `${oauth.issuer}/token` };
  await admin.post('/api/sources?wait=20000', { name: 'Named', mcp_server_url: wiki.url, credential: named });
  expect(oauth.seen.token.map((form) => form.get('resource'))).toEqual(expect.arrayContaining([wiki.url, null]));

  const own = { name: 'Own', mcp_server_url: wiki.url, credential: { type: 'oauth' }, discovery_credential: robot };
  await admin.post('/api/sources?wait=20000', own);
  await connect(user, { oauth, user: 'user-1', source: 'own' });
  expect((await user.call('own:whoami')).json.text).toBe('user-1');
  await user.delete('/api/connections/own');
  expect(oauth.seen.revoked).toContain('refresh_token');

  expect(server.log.filter((line) => line.startsWith('poisoned'))).toEqual(['poisoned everything']);
});

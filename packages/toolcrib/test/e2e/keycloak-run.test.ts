import { describe, expect, test } from 'vitest';
import { freshRealm } from '../fixtures/keycloak-realm.ts';
import { fixture } from '../fixtures/open-server.ts';
import { part } from '../parts.ts';
import { startTestServer } from '../running-server.ts';

const keycloak = part('keycloak');

describe.skipIf(!keycloak.available)('with Keycloak', () => {
  test('[SEC-2] a role of its own decides who may register commands, and is gone with the next token', async () => {
    await using realm = await freshRealm(keycloak.available ? keycloak.url : '');
    await using server = await startTestServer({ issuers: [realm.config] });
    const as = async (username: string) => server.client((await realm.signIn(username)).access_token);
    const rightsOf = async (username: string) => {
      const { status, json } = await (await as(username)).get('/api/me');
      return { status, administrator: json.administrator, mayRun: json.may_run };
    };
    expect(await rightsOf('alice')).toEqual({ status: 200, administrator: false, mayRun: false });
    expect(await rightsOf('admin')).toEqual({ status: 200, administrator: true, mayRun: true });

    const role: unknown = await (await realm.administer('GET', '/roles/toolcrib-run')).json();
    const groups = (await (await realm.administer('GET', '/groups?search=administrators')).json()) as { id: string }[];
    await realm.administer('DELETE', `/groups/${groups[0]?.id}/role-mappings/realm`, [role]);
    expect(await rightsOf('admin')).toEqual({ status: 200, administrator: true, mayRun: false });
    const refused = await (await as('admin')).post('/api/sources', { name: 'Local', mcp_command: fixture('plain') });
    expect(refused).toMatchObject({ status: 403, json: { code: 'FORBIDDEN', message: expect.stringContaining('toolcrib-run') } });
  });
});

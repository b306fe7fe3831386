import type { ServeConfig } from '../../src/server/server-config.ts';
import { administering } from '../running-server.ts';
import { freshRealm, type KeycloakRealm } from '../fixtures/keycloak-realm.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startRecordedDoor } from './recorded-door.ts';

/** The client that is set up in Keycloak, for MCP clients that log in there directly. */
export const registeredClient = 'mcp-client';

/** Long enough to list and to call, and soon over. */
const lifespanSeconds = 2;

/**
 * A server that trusts a realm of its own in Keycloak, as an operator would set it up for MCP clients: with a client scope `mcp`, and a client
 * that has it. Tokens last for seconds.
 */
export async function startKeycloakDoor(keycloakIssuer: string, config: Partial<ServeConfig> = {}) {
  await using opened = new AsyncDisposableStack();
  const realm = opened.use(await freshRealm(keycloakIssuer, { accessTokenLifespan: lifespanSeconds }));
  const inToken = { 'included.custom.audience': 'toolcrib-gateway', 'access.token.claim': 'true' };
  const mapper = { name: 'audience', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config: inToken };
  await realm.administer('POST', '/client-scopes', { name: 'mcp', protocol: 'openid-connect', protocolMappers: [mapper] });
  await realm.administer('POST', '/clients', {
    clientId: registeredClient,
    publicClient: true,
    redirectUris: ['http://127.0.0.1/*', 'http://localhost/*'],
    attributes: { 'pkce.code.challenge.method': 'S256', 'access.token.header.type.rfc9068': 'true' },
    defaultClientScopes: ['basic', 'roles', 'profile'],
    // Keycloak says that it knows `offline_access`, so some clients ask for it, and are refused unless they may.
    optionalClientScopes: ['mcp', 'offline_access'],
  });
  await allowOffline(realm, 'alice');
  const door = opened.use(await startRecordedDoor({ issuers: [{ ...realm.config, ...administering }], ...config }));
  const asAdmin = async () => door.server.client((await realm.signIn('admin')).access_token);
  await grantEverything(await asAdmin());
  const closing = opened.move();
  return {
    ...door,
    realm,
    /** The calls that are in the record, the newest first. */
    async recordedCalls(): Promise<{ user_name: string; agent: string; door: string }[]> {
      return (await (await asAdmin()).get('/api/calls')).json.calls;
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** As all users of a realm may that was made in Keycloak's console. */
async function allowOffline(realm: KeycloakRealm, username: string): Promise<void> {
  const [user] = (await (await realm.administer('GET', `/users?exact=true&username=${username}`)).json()) as { id: string }[];
  const role = await (await realm.administer('GET', '/roles/offline_access')).json();
  await realm.administer('POST', `/users/${user?.id}/role-mappings/realm`, [role]);
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServeConfig } from '../../src/server/server-config.ts';
import { administering, temporaryDirectory } from '../running-server.ts';
import { freshRealm, type KeycloakRealm } from '../fixtures/keycloak-realm.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startRecordedDoor, type RecordedDoor } from './recorded-door.ts';

/** The client that is set up for MCP clients which do not register: in Keycloak, or at the bridge. */
export const registeredClient = 'mcp-client';

/** How long tokens last that are to expire in a test: long enough to list and to call. */
const soonSeconds = 2;
const bridgeClient = 'bridge-of-the-tests';
const bridgeSecret = 'the secret of the bridge';

/** Where clients log in: at Keycloak, or at Toolcrib with Keycloak behind it. */
export type LoginPlace = 'directly' | 'behind the bridge';

interface KeycloakDoor extends RecordedDoor {
  realm: KeycloakRealm;
  /** The calls that are in the record, the newest first. */
  recordedCalls(): Promise<{ user_name: string; agent: string; door: string }[]>;
}

/**
 * A server that trusts a realm of its own in Keycloak, as an operator would set it up for MCP clients: with a client scope `mcp` and a client
 * that has it, or with a client for the bridge. The tokens of MCP clients last for seconds.
 */
export async function startKeycloakDoor(keycloakIssuer: string, place: LoginPlace): Promise<KeycloakDoor> {
  await using opened = new AsyncDisposableStack();
  const realm = opened.use(await freshRealm(keycloakIssuer, place === 'directly' ? { accessTokenLifespan: soonSeconds } : {}));
  const login = place === 'directly' ? await addClient(realm) : await addBridge(realm, opened.use(await temporaryDirectory()).path);
  const door = opened.use(await startRecordedDoor({ issuers: [{ ...realm.config, ...administering }], ...login }));
  const asAdmin = async () => door.server.client((await realm.signIn('admin')).access_token);
  await grantEverything(await asAdmin());
  const closing = opened.move();
  return {
    ...door,
    realm,
    async recordedCalls() {
      return (await (await asAdmin()).get('/api/calls')).json.calls;
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

const audience = {
  name: 'audience',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { 'included.custom.audience': 'toolcrib-gateway', 'access.token.claim': 'true' },
};

async function addClient(realm: KeycloakRealm): Promise<Partial<ServeConfig>> {
  await realm.administer('POST', '/client-scopes', { name: 'mcp', protocol: 'openid-connect', protocolMappers: [audience] });
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
  return {};
}

/** Keycloak knows Toolcrib only, and nothing of MCP. */
async function addBridge(realm: KeycloakRealm, folder: string): Promise<Partial<ServeConfig>> {
  await realm.administer('POST', '/clients', {
    clientId: bridgeClient,
    secret: bridgeSecret,
    redirectUris: ['http://127.0.0.1/login/callback'],
    attributes: { 'access.token.header.type.rfc9068': 'true' },
    defaultClientScopes: ['basic', 'roles', 'profile'],
    protocolMappers: [audience],
  });
  const client_secret_file = join(folder, 'secret');
  await writeFile(client_secret_file, bridgeSecret);
  const clients = [{ client_id: registeredClient, name: 'A client of ours', redirect_uris: ['http://localhost/callback'] }];
  return { loginBridge: { client_id: bridgeClient, client_secret_file, access_token_seconds: soonSeconds, clients } };
}

/** As all users of a realm may that was made in Keycloak's console. */
async function allowOffline(realm: KeycloakRealm, username: string): Promise<void> {
  const [user] = (await (await realm.administer('GET', `/users?exact=true&username=${username}`)).json()) as { id: string }[];
  const role = await (await realm.administer('GET', '/roles/offline_access')).json();
  await realm.administer('POST', `/users/${user?.id}/role-mappings/realm`, [role]);
}

import type { LoginBridgeConfig } from '../../src/login-bridge/bridge-config.ts';
import { freePort } from '../../src/net/free-port.ts';
import type { ServeConfig } from '../../src/server/server-config.ts';
import { freshRealm, userPassword } from '../fixtures/keycloak-realm.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startTestServer } from '../running-server.ts';
import { Person, type Shown } from './person.ts';
import { callback } from './public-client.ts';

interface CompanyBridgeOptions extends Partial<ServeConfig> {
  bridge?: Partial<LoginBridgeConfig>;
  accessTokenLifespan?: number;
}

/** A server whose bridge signs people in with a Keycloak of its own realm. */
export async function startCompanyBridge(
  keycloakIssuer: string,
  { bridge = {}, accessTokenLifespan, ...config }: CompanyBridgeOptions = {},
) {
  const port = await freePort('127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  const realm = await freshRealm(keycloakIssuer, { toolcribUrl: url, ...(accessTokenLifespan !== undefined && { accessTokenLifespan }) });
  const server = await startTestServer({
    port,
    issuers: [realm.config],
    allowedNetworks: ['loopback'],
    mcpDoor: true,
    loginBridge: { client_id: 'toolcrib-login', issuer: realm.issuer, ...bridge },
    ...config,
  });
  const admin = server.client((await realm.signIn('admin')).access_token);
  await grantEverything(admin);
  return {
    realm,
    server,
    admin,
    url,
    person: () => new Person(callback),
    /** Allows the client, and signs in at Keycloak, whose page is the same for everybody. */
    async allow(person: Person, page: Shown, username = 'alice'): Promise<Shown> {
      const next = await person.submit(page, { answer: 'allow' });
      if (!next.text.includes('name="username"')) return next;
      return person.submit(next, { username, password: userPassword });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await realm[Symbol.asyncDispose]();
    },
  };
}

import type { ClientCredentialTokens } from '../../identity/client-credentials.ts';
import { forwardedToken } from '../../identity/forwarded-token.ts';
import type { ConnectionTokens } from '../../identity/oauth/connection-tokens.ts';
import type { ServiceIdentity } from '../../identity/service-identity.ts';
import type { TokenExchange } from '../../identity/token-exchange.ts';
import { sourceOwner } from '../../model/connection.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Credential, NamedValue, SourceDefinition } from '../../model/source-definition.ts';
import type { Principal } from '../../model/principal.ts';
import type { SourceRecord } from '../../model/source.ts';
import { upstreamSecret } from '../../model/upstream-secret.ts';
import { connectionTokens } from './connection-tokens.ts';
import { createSourceFillIn, type EnvironmentInput } from './environment.ts';
import type { ConnectionOwners } from './connection-owners.ts';
import { sentToken, type UpstreamCredential, type UpstreamTokens } from './upstream-credential.ts';

/** The sources of tokens, for the types of credential that use tokens. */
export interface TokenSources {
  clientTokens: ClientCredentialTokens;
  connections: ConnectionTokens;
  connectionOwners: ConnectionOwners;
  exchange: TokenExchange;
}

interface ResolvingCredential extends TokenSources {
  source: SourceRecord;
  definition: SourceDefinition;
  resolving: EnvironmentInput;
  /** The caller; undefined during discovery. */
  principal: Principal | undefined;
}

/**
 * [ID-2] The one place that resolves every type of credential. A missing or invalid value is an error, and no type falls back to another:
 * nothing is sent without its credential.
 */
export async function resolveCredential(credential: Credential, input: ResolvingCredential): Promise<UpstreamCredential> {
  const { definition, resolving, source, principal } = input;
  const fillIn = createSourceFillIn(definition, resolving);
  const text = (value: string, name: string) => fillIn.text(value, `credential.${name}`);
  const optionalText = async (value: string | undefined, name: string) => (value === undefined ? undefined : text(value, name));
  async function secret(value: NamedValue, name: string): Promise<string> {
    const filled = await fillIn.value(value, `credential.${name}`);
    resolving.redactor?.add(filled);
    return filled;
  }
  const optionalSecret = async (value: NamedValue | undefined, name: string) => (value === undefined ? undefined : secret(value, name));

  switch (credential.type) {
    case 'none':
      return credential;
    case 'bearer':
      return header('authorization', `Bearer ${await secret(credential.token, 'token')}`);
    case 'basic': {
      const { username: named } = credential;
      const username = typeof named === 'string' ? await text(named, 'username') : await secret(named, 'username');
      const pair = `${withoutColon(username)}:${await secret(credential.password, 'password')}`;
      const encoded = Buffer.from(pair).toString('base64');
      resolving.redactor?.add(encoded);
      return header('authorization', `Basic ${encoded}`);
    }
    case 'api_key': {
      const value = await secret(credential.value, 'value');
      if (credential.in === 'cookie') return header('cookie', `${credential.name}=${cookieValue(value)}`);
      return { type: credential.in, name: credential.name, value: upstreamSecret(value) };
    }
    case 'client_credentials':
    case 'jwt_bearer': {
      const { token_url, client_id, client_secret, scope } = credential;
      const asked: ServiceIdentity = {
        tokenUrl: await optionalText(token_url, 'token_url'),
        serverUrl: definition.server_url ?? undefined,
        clientId: await text(client_id, 'client_id'),
        clientSecret: await optionalSecret(client_secret, 'client_secret'),
        scope: await optionalText(scope, 'scope'),
        allowInsecure: definition.allow_insecure,
        ...(credential.type === 'client_credentials'
          ? { privateKey: await optionalSecret(credential.private_key, 'private_key'), algorithm: credential.algorithm }
          : { assertion: await secret(credential.assertion, 'assertion'), identityProvider: credential.identity_provider }),
      };
      return { type: 'tokens', tokens: serviceTokens(asked, input.clientTokens) };
    }
    case 'oauth': {
      const connectionOwner = await input.connectionOwners.of(source, principal?.key ?? sourceOwner);
      return { type: 'tokens', tokens: connectionTokens(connectionOwner, input.connections) };
    }
    case 'token_exchange': {
      const terms = {
        audience: await text(credential.audience, 'audience'),
        clientId: await text(credential.client_id, 'client_id'),
        clientSecret: await secret(credential.client_secret, 'client_secret'),
        scope: await optionalText(credential.scope, 'scope'),
      };
      const exchanged = input.exchange.tokensFor(known(principal), terms);
      const bearer = (accessToken: ReturnType<typeof upstreamSecret>) => ({ accessToken, scheme: 'Bearer' as const });
      const tokens: UpstreamTokens = {
        get() {
          const found = exchanged.get();
          return found instanceof Promise ? found.then(bearer) : bearer(found);
        },
        refused: async (challenge) => challenge.status === 401 && exchanged.refused(sentToken(challenge)),
      };
      return { type: 'tokens', tokens };
    }
    case 'caller_token': {
      const caller = known(principal);
      const address = definition.server_url ?? '';
      const get = () => ({ accessToken: forwardedToken(caller, address, Date.now()), scheme: 'Bearer' as const });
      return { type: 'tokens', tokens: { get, refused: async () => false } };
    }
  }
}

function header(name: string, value: string): UpstreamCredential {
  return { type: 'header', name, value: upstreamSecret(value) };
}

/** Gets the token for every request, because a token may expire during a session. */
function serviceTokens(asked: ServiceIdentity, clientTokens: ClientCredentialTokens): UpstreamTokens {
  return {
    get: async () => ({ accessToken: await clientTokens.get(asked), scheme: 'Bearer' }),
    // Retry with a new token: the old one may have been revoked before it expired.
    async refused({ status }) {
      if (status !== 401) return false;
      clientTokens.drop(asked);
      return true;
    },
  };
}

function known(principal: Principal | undefined): Principal {
  if (principal === undefined) throw new CribError('INTERNAL', 'A per-user credential needs a caller');
  return principal;
}

/** RFC 7617 §2: everything after the first colon is the password. */
function withoutColon(username: string): string {
  if (!username.includes(':')) return username;
  throw new CribError('VALIDATION_ERROR', 'A user name cannot contain a colon', { field: 'credential.username' });
}

/** RFC 6265 §4.1.1. */
function cookieValue(value: string): string {
  if (/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(value)) return value;
  throw new CribError('VALIDATION_ERROR', 'The key contains characters that a cookie cannot contain', { field: 'credential.value' });
}

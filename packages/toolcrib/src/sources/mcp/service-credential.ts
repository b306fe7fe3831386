import type { ServiceIdentity } from '../../identity/service-identity.ts';
import { CribError } from '../../model/crib-error.ts';
import type { Credential, McpDefinition, NamedValue } from '../../model/mcp-definition.ts';
import { createSourceFillIn, type EnvironmentInput } from './environment.ts';

/** A credential of the source's own with its secrets filled in: how it is sent, or how the token that is sent is asked for. */
export type ServiceCredential =
  | { type: 'none' }
  | { type: 'header' | 'query'; name: string; value: string }
  | { type: 'token'; asked: ServiceIdentity };

/** [ID-2] What is missing or does not fit is an error: nothing is ever sent without its credential. */
export async function resolveServiceCredential(
  credential: Exclude<Credential, { type: 'oauth' }>,
  definition: McpDefinition,
  resolving: EnvironmentInput,
): Promise<ServiceCredential> {
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
      return { type: 'header', name: 'authorization', value: `Bearer ${await secret(credential.token, 'token')}` };
    case 'basic': {
      const pair = `${await text(credential.username, 'username')}:${await secret(credential.password, 'password')}`;
      const encoded = Buffer.from(pair).toString('base64');
      resolving.redactor?.add(encoded);
      return { type: 'header', name: 'authorization', value: `Basic ${encoded}` };
    }
    case 'api_key': {
      const value = await secret(credential.value, 'value');
      if (credential.in === 'cookie') return { type: 'header', name: 'cookie', value: `${credential.name}=${cookieValue(value)}` };
      return { type: credential.in, name: credential.name, value };
    }
    case 'client_credentials':
    case 'jwt_bearer': {
      const { token_url, client_id, client_secret, scope } = credential;
      return {
        type: 'token',
        asked: {
          tokenUrl: await optionalText(token_url, 'token_url'),
          serverUrl: definition.server_url ?? undefined,
          clientId: await text(client_id, 'client_id'),
          clientSecret: await optionalSecret(client_secret, 'client_secret'),
          scope: await optionalText(scope, 'scope'),
          allowInsecure: definition.allow_insecure,
          ...(credential.type === 'client_credentials'
            ? { privateKey: await optionalSecret(credential.private_key, 'private_key'), algorithm: credential.algorithm }
            : { assertion: await secret(credential.assertion, 'assertion'), identityProvider: credential.identity_provider }),
        },
      };
    }
  }
}

/** RFC 6265 §4.1.1. */
function cookieValue(value: string): string {
  if (/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(value)) return value;
  throw new CribError('VALIDATION_ERROR', 'The key has characters in it that no cookie can carry', { field: 'credential.value' });
}

import type { Crib } from '../../src/crib.ts';
import type { Principal } from '../../src/model/principal.ts';
import type { McpRegistrationInput } from '../../src/sources/mcp/registration/forms.ts';
import type { Scenario } from './scenario.ts';

/** The suite's authorization servers know this one, and only this one. */
const clientMetadataUrl = 'https://conformance-test.local/client-metadata.json';

type Credentials = Pick<McpRegistrationInput, 'credential' | 'discovery_credential'>;

/** What an administrator registers with the server, given what the scenario says about it. */
export function credentialsFor({ name, context }: Scenario): Credentials {
  if (!name.startsWith('auth/')) return {};
  const { client_id = '', client_secret, private_key_pem: private_key, signing_algorithm: algorithm } = context;
  const { valid_jwt, idp_id_token, idp_client_id = '', idp_token_endpoint = '' } = context;
  const provider = { token_url: idp_token_endpoint, client_id: idp_client_id };
  if (valid_jwt !== undefined) return { credential: { type: 'jwt_bearer', assertion: valid_jwt, client_id } };
  if (idp_id_token !== undefined) {
    return { credential: { type: 'jwt_bearer', assertion: idp_id_token, client_id, client_secret, identity_provider: provider } };
  }
  if (private_key !== undefined) return { credential: { type: 'client_credentials', client_id, private_key, algorithm } };
  if (name === 'auth/client-credentials-basic') return { credential: { type: 'client_credentials', client_id, client_secret } };
  const credential = {
    type: 'oauth' as const,
    ...(client_id === '' ? { client_metadata_url: clientMetadataUrl } : { client_id, client_secret }),
    dpop: name.startsWith('auth/dpop'),
    // The server of this scenario is one from before RFC 8414 was required, and names an issuer that is not its own.
    skip_issuer_check: name === 'auth/2025-03-26-oauth-metadata-backcompat',
  };
  // Its second authorization has to be the one that asks for more, so the tools are listed and called with one and the same.
  if (name === 'auth/scope-step-up') return { credential: { ...credential, shared: true } };
  return { credential, discovery_credential: { type: 'oauth' } };
}

/** Connects somebody as a person with a browser does. The suite's authorization servers consent without asking. */
export async function connect(crib: Crib, principal: Principal, sourceId: string, purpose: 'calls' | 'discovery'): Promise<void> {
  const { authorization_url } = await crib.connections.begin(principal, sourceId, { for: purpose, administrator: true });
  const { headers } = await fetch(authorization_url, { redirect: 'manual' });
  const { searchParams } = new URL(headers.get('location') ?? '');
  const { state, code, iss, error } = Object.fromEntries(searchParams) as Record<string, string | undefined>;
  const { redemptionCode } = await crib.connections.park(sourceId, { state, code, iss, error });
  await crib.connections.redeem(principal, sourceId, redemptionCode, { for: purpose, administrator: true });
}

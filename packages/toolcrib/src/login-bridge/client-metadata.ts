import { z } from 'zod';
import { redirectRefusal } from './redirect-policy.ts';

const uris = z.array(z.string().max(2048)).min(1).max(20);

/** What is read of what a client says of itself. RFC 7591 §2: everything else is passed over. */
const claimedSchema = z.object({
  redirect_uris: uris,
  client_name: z.string().max(4096).optional(),
  grant_types: z.array(z.string().max(200)).max(20).optional(),
  response_types: z.array(z.string().max(200)).max(20).optional(),
  token_endpoint_auth_method: z.string().max(100).optional(),
});

/** A client as `oidc-provider` wants it. */
export interface ClientMetadata {
  client_id: string;
  client_name?: string;
  redirect_uris: string[];
  grant_types: string[];
  response_types: ['code'];
  token_endpoint_auth_method: 'none';
  application_type: 'native';
}

/** What is wrong with the metadata of a client, as RFC 7591 §3.2.2 names it. */
export class ClientMetadataError extends Error {
  override name = 'ClientMetadataError';
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata';

  constructor(code: ClientMetadataError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const longestName = 80;

/**
 * [LOGIN-3] What a client says of itself, under our own rules: every client is public, proves itself by PKCE, and is sent back only to
 * addresses that are safe. A client that asks for a secret is answered that it needs none.
 */
export function clientMetadata(clientId: string, claimed: unknown): ClientMetadata {
  const parsed = claimedSchema.safeParse(claimed);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') || 'the metadata';
    throw new ClientMetadataError(
      field.startsWith('redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata',
      `${field}: ${issue?.message ?? 'does not fit'}`,
    );
  }
  const { redirect_uris, client_name, grant_types = ['authorization_code', 'refresh_token'], response_types = ['code'] } = parsed.data;
  for (const [index, uri] of redirect_uris.entries()) {
    const refusal = redirectRefusal(uri);
    if (refusal !== undefined) throw new ClientMetadataError('invalid_redirect_uri', `redirect_uris.${index} ${refusal}`);
  }
  if (!grant_types.includes('authorization_code') || !response_types.includes('code'))
    throw new ClientMetadataError(
      'invalid_client_metadata',
      'Clients log people in with the grant authorization_code and the response type code only',
    );
  const name = shownName(client_name);
  return {
    client_id: clientId,
    ...(name === undefined ? {} : { client_name: name }),
    redirect_uris,
    // A client that does not ask for refresh tokens gets none.
    grant_types: grant_types.includes('refresh_token') ? ['authorization_code', 'refresh_token'] : ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  };
}

/** Without what could change how the text around it reads: control, format and private characters, line ends and towers of accents. */
export function shownName(name: string | undefined): string | undefined {
  const shown = (name ?? '')
    .normalize('NFC')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .replaceAll(/(\p{M}{2})\p{M}+/gu, '$1')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return shown === '' ? undefined : Array.from(shown).slice(0, longestName).join('');
}

import type { OAuthSettings } from '../../identity/oauth/oauth-settings.ts';
import { CribError } from '../../model/crib-error.ts';
import type { SourceRecord } from '../../model/source.ts';
import { createSourceFillIn, type EnvironmentInput } from './environment.ts';

/** How users are authorized for a source, with its secrets and references filled in. */
export async function resolveOAuthSettings(source: SourceRecord, resolving: EnvironmentInput): Promise<OAuthSettings> {
  const credential = source.definition?.credential;
  if (source.definition === null || credential?.type !== 'oauth') {
    throw new CribError('CONFLICT', `${source.name} needs no connection: its credential is not oauth`);
  }
  const { definition } = source;
  const fillIn = createSourceFillIn(definition, resolving);
  const text = async (value: string | undefined, name: string) =>
    value === undefined ? undefined : fillIn.text(value, `credential.${name}`);
  const clientId = await text(credential.client_id, 'client_id');
  const secret = credential.client_secret && (await fillIn.value(credential.client_secret, 'credential.client_secret'));
  if (secret !== undefined) resolving.redactor?.add(secret);
  return {
    sourceId: source.id,
    sourceName: source.name,
    serverUrl: definition.server_url === null ? undefined : await fillIn.text(definition.server_url, 'server_url'),
    isLegacySse: 'transport_type' in definition && definition.transport_type === 'sse',
    authorizationServer: await text(credential.authorization_server, 'authorization_server'),
    resource: await text(credential.resource, 'resource'),
    client: clientId === undefined ? undefined : { client_id: clientId, ...(secret === undefined ? {} : { client_secret: secret }) },
    clientMetadataUrl: await text(credential.client_metadata_url, 'client_metadata_url'),
    scope: await text(credential.scope, 'scope'),
    skipIssuerCheck: credential.skip_issuer_check ?? false,
    dpop: credential.dpop ?? false,
    allowInsecure: definition.allow_insecure,
  };
}

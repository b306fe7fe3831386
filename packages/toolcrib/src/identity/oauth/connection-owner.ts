import { connectUrl, sourceOwner } from '../../model/connection.ts';
import { CribError } from '../../model/crib-error.ts';
import type { OAuthSettings } from './oauth-settings.ts';

/** The owner of a connection to a source: a user, or the source itself. */
export interface ConnectionOwner {
  sourceId: string;
  /** The key of the principal, or `source`. */
  owner: string;
  settings: OAuthSettings;
}

/** [ID-5] An error of this caller alone: it says nothing about the source. */
export function notConnected(
  { sourceId, owner, settings }: ConnectionOwner,
  why = 'is not there yet',
  upstreamStatus?: 401 | 403,
): CribError {
  const url = connectUrl(sourceId, owner);
  const { sourceName } = settings;
  const message =
    owner === sourceOwner
      ? `The connection of ${sourceName} itself ${why}: an administrator makes one with POST ${url}`
      : `Your connection to ${sourceName} ${why}: POST ${url}, and open the address it answers with`;
  const origin = owner === sourceOwner ? 'source' : 'caller';
  return new CribError('UNAUTHENTICATED', message, { retryable: false, upstreamStatus, details: { connect_url: url }, origin });
}

import type { ConnectionOwner } from '../../identity/oauth/connection-owner.ts';
import type { OAuthSettings } from '../../identity/oauth/oauth-settings.ts';
import type { SourceRecord } from '../../model/source.ts';
import type { EnvironmentInput } from './environment.ts';
import { resolveOAuthSettings } from './oauth-settings.ts';

/** The owners of OAuth connections, with the settings of the source. */
export interface ConnectionOwners {
  of(source: SourceRecord, owner: string): Promise<ConnectionOwner>;
  /** Call this when secrets or sources have changed. */
  forget(): void;
}

/** The OAuth settings of a source are resolved once, not with every call. */
export function createConnectionOwners(resolvingFor: (sourceId: string) => EnvironmentInput): ConnectionOwners {
  const settings = new Map<string, { updatedAt: number; resolved: Promise<OAuthSettings> }>();
  return {
    async of(source, owner) {
      let known = settings.get(source.id);
      if (known?.updatedAt !== source.updated_at) {
        known = { updatedAt: source.updated_at, resolved: resolveOAuthSettings(source, resolvingFor(source.id)) };
        known.resolved.catch(() => settings.delete(source.id));
        settings.set(source.id, known);
      }
      return { sourceId: source.id, owner, settings: await known.resolved };
    },
    forget: () => settings.clear(),
  };
}

import type { Speaker } from '../../identity/oauth/connection-tokens.ts';
import type { OAuthSettings } from '../../identity/oauth/oauth-settings.ts';
import type { SourceRecord } from '../../model/source.ts';
import type { EnvironmentInput } from './environment.ts';
import { resolveOAuthSettings } from './oauth-settings.ts';

/** Who speaks to sources over connections of their own. */
export interface Speakers {
  of(source: SourceRecord, owner: string): Promise<Speaker>;
  /** Secrets or sources have changed. */
  forget(): void;
}

/** What a source says of its connections is filled in once, and not with every call. */
export function createSpeakers(resolvingFor: (sourceId: string) => EnvironmentInput): Speakers {
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

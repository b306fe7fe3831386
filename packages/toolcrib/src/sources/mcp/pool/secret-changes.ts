import type { McpDefinition } from '../mcp-definition.ts';
import type { McpSession } from '../session/mcp-session.ts';
import type { SecretsFollowed } from '../../open-source.ts';
import type { OwnSessions } from './own-sessions.ts';
import type { PerUserCalls } from './per-user-calls.ts';

export interface SecretChanges {
  /** Secrets that a running session still has an old value of. */
  readonly outdated: readonly string[];
  /** Resolves when no call can begin with an old value any more, unless the source keeps old values. */
  follow(): Promise<SecretsFollowed>;
  /** Everything was restarted. */
  forget(): void;
}

interface SecretChangesInput {
  definition: McpDefinition;
  own: OwnSessions;
  ofUsers: PerUserCalls | undefined;
  note(message: string): void;
}

/** [ENV-1] Replaces sessions that run with old values of secrets, or notes that they keep them. */
export function createSecretChanges({ definition, own, ofUsers, note }: SecretChangesInput): SecretChanges {
  let outdated: readonly string[] = [];

  async function follow(): Promise<SecretsFollowed> {
    const { opening } = own;
    const changed = new Map<McpSession, string[]>();
    for (const session of [...own.lasting, ...(ofUsers?.lasting ?? [])]) {
      const names = (await session.changedSecrets?.()) ?? [];
      if (names.length > 0) changed.set(session, names);
    }
    // A session that is being opened may have read the old value: it is checked when it is open.
    void opening?.then(follow).catch(() => undefined);
    const names = [...new Set([...changed.values()].flat())].toSorted();
    const isNews = names.some((name) => !outdated.includes(name));
    outdated = definition.on_secret_change === 'keep' ? names : [];
    if (names.length === 0) return 'unaffected';
    const which = `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} changed`;
    if (definition.on_secret_change === 'keep') {
      if (isNews) note(`${which}. The running server keeps the old value until it is restarted (on_secret_change: keep).`);
      return 'kept';
    }
    note(`${which}. New calls use the new value; calls under way finish with the old one.`);
    const sessions = new Set(changed.keys());
    own.renew(sessions);
    ofUsers?.retire(sessions);
    return 'renewed';
  }

  return {
    get outdated() {
      return outdated;
    },
    follow,
    forget() {
      outdated = [];
    },
  };
}

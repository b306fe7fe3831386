import type { McpDefinition } from '../model/mcp-definition.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import type { OwnSessions } from './own-sessions.ts';
import type { PerUserCalls } from './per-user-calls.ts';

/** What became of a source when secrets had changed. */
export type SecretsFollowed = 'unaffected' | 'renewed' | 'kept';

export interface SecretChanges {
  /** Secrets that have another value than the one with which something runs. */
  readonly outdated: readonly string[];
  /** Resolves when no call can begin with an old value any more, unless the source is to keep it. */
  follow(): Promise<SecretsFollowed>;
  /** Everything was started anew. */
  forget(): void;
}

interface SecretChangesInput {
  definition: McpDefinition;
  own: OwnSessions;
  ofUsers: PerUserCalls | undefined;
  note(message: string): void;
}

/** [ENV-1] Brings new values of secrets to what runs with the old ones, or says that it does not. */
export function createSecretChanges({ definition, own, ofUsers, note }: SecretChangesInput): SecretChanges {
  let outdated: readonly string[] = [];

  async function follow(): Promise<SecretsFollowed> {
    const { opening } = own;
    const changed = new Map<McpSession, string[]>();
    for (const session of [...own.lasting, ...(ofUsers?.lasting ?? [])]) {
      const names = (await session.changedSecrets?.()) ?? [];
      if (names.length > 0) changed.set(session, names);
    }
    // What is being opened may have read the old value: it is looked at when it is there.
    void opening?.then(follow).catch(() => undefined);
    const names = [...new Set([...changed.values()].flat())].toSorted();
    const isNews = names.some((name) => !outdated.includes(name));
    outdated = definition.on_secret_change === 'keep' ? names : [];
    if (names.length === 0) return 'unaffected';
    const which = `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} changed`;
    if (definition.on_secret_change === 'keep') {
      if (isNews) note(`${which}. What runs keeps the old value until it is restarted (on_secret_change: keep).`);
      return 'kept';
    }
    note(`${which}. It goes on with the new value; calls under way finish with the old one.`);
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

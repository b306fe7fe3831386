import type { Connections } from '../identity/oauth/connections.ts';
import type { Counter } from '../inventory/counter.ts';
import { CribError } from '../model/crib-error.ts';
import { changedBy } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { Speakers } from '../sources/upstream/speakers.ts';
import type { Supervisor } from '../supervision/supervisor.ts';

interface UserConnection {
  source_id: string;
  source_name: string;
  namespace: string;
  owner: string;
  user: string | null;
  connected_at: number;
}

/** [BFF-6] Everybody's connections, for administrators: somebody leaves, or a source is not to be trusted any more. */
export interface UserConnectionAdministration {
  list(query: { owner?: string | undefined; source?: string | undefined; limit: number }): Promise<UserConnection[]>;
  /** Those of one user, to one source or to all. Resolves with how many there were; every server refuses the next call. */
  end(principal: Principal, whose: { owner: string; source?: string | undefined }): Promise<number>;
}

interface UserConnectionAdministrationInput {
  counter: Counter;
  supervisor: Supervisor;
  connections: Connections;
  speakers: Speakers;
}

/** More than there are sources. */
const everyConnection = 10_000;

export function createUserConnectionAdministration(input: UserConnectionAdministrationInput): UserConnectionAdministration {
  const { counter, supervisor, connections, speakers } = input;

  function idOf(written: string | undefined): string | undefined {
    if (written === undefined || counter.sources.has(written)) return written;
    const found = [...counter.sources.values()].find(({ namespace }) => namespace === written);
    if (found === undefined) throw new CribError('NOT_FOUND', 'There is no such source. GET /api/sources lists those there are');
    return found.id;
  }

  return {
    async list({ owner, source, limit }) {
      const found = await connections.listConnected({ owner, sourceId: idOf(source), limit });
      return found.flatMap(({ sourceId, owner, ownerName, connectedAt }) => {
        const known = counter.sources.get(sourceId);
        if (known === undefined) return [];
        const { id, name, namespace } = known;
        return [{ source_id: id, source_name: name, namespace, owner, user: ownerName, connected_at: connectedAt }];
      });
    },
    async end(principal, { owner, source }) {
      const found = await connections.listConnected({ owner, sourceId: idOf(source), limit: everyConnection });
      const ended = found.map(async ({ sourceId }) => {
        const settings = async () => {
          const known = counter.sources.get(sourceId);
          if (known === undefined) throw new CribError('NOT_FOUND', 'The source was removed in the meantime');
          return (await speakers.of(known, owner)).settings;
        };
        const isEnded = await connections.revoke({ sourceId, owner }, settings, changedBy(principal));
        await supervisor.endSessionsOf(sourceId, owner);
        return isEnded;
      });
      const count = (await Promise.all(ended)).filter(Boolean).length;
      if (count === 0)
        throw new CribError('NOT_FOUND', 'This user has no such connection. GET /api/user-connections lists those there are');
      return count;
    },
  };
}

import type { Connections } from '../identity/oauth/connections.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { CribError } from '../model/crib-error.ts';
import { changedBy } from '../model/event.ts';
import type { Principal } from '../model/principal.ts';
import type { ConnectionOwners } from '../sources/upstream/connection-owners.ts';
import type { Supervisor } from '../supervision/supervisor.ts';

interface UserConnection {
  source_id: string;
  source_name: string;
  namespace: string;
  owner: string;
  user: string | null;
  connected_at: number;
}

/** [BFF-6] All users' connections, for administrators: for when a user leaves, or a source is no longer trusted. */
export interface UserConnectionAdministration {
  list(query: { owner?: string | undefined; source?: string | undefined; limit: number }): Promise<UserConnection[]>;
  /** Ends the connections of one user, to one source or to all. Resolves with their number. From then on every server refuses calls. */
  end(principal: Principal, whose: { owner: string; source?: string | undefined }): Promise<number>;
}

interface UserConnectionAdministrationInput {
  inventory: Inventory;
  supervisor: Supervisor;
  connections: Connections;
  connectionOwners: ConnectionOwners;
}

/** More than one user can have. */
const everyConnection = 10_000;

export function createUserConnectionAdministration(input: UserConnectionAdministrationInput): UserConnectionAdministration {
  const { inventory, supervisor, connections, connectionOwners } = input;

  function idOf(written: string | undefined): string | undefined {
    if (written === undefined || inventory.sources.has(written)) return written;
    const found = [...inventory.sources.values()].find(({ namespace }) => namespace === written);
    if (found === undefined) throw new CribError('NOT_FOUND', 'There is no such source. GET /api/sources lists all sources');
    return found.id;
  }

  return {
    async list({ owner, source, limit }) {
      const found = await connections.listConnected({ owner, sourceId: idOf(source), limit });
      return found.flatMap(({ sourceId, owner, ownerName, connectedAt }) => {
        const known = inventory.sources.get(sourceId);
        if (known === undefined) return [];
        const { id, name, namespace } = known;
        return [{ source_id: id, source_name: name, namespace, owner, user: ownerName, connected_at: connectedAt }];
      });
    },
    async end(principal, { owner, source }) {
      const found = await connections.listConnected({ owner, sourceId: idOf(source), limit: everyConnection });
      const ended = found.map(async ({ sourceId }) => {
        const settings = async () => {
          const known = inventory.sources.get(sourceId);
          if (known === undefined) throw new CribError('NOT_FOUND', 'The source was removed in the meantime');
          return (await connectionOwners.of(known, owner)).settings;
        };
        const isEnded = await connections.revoke({ sourceId, owner }, settings, changedBy(principal));
        await supervisor.endSessionsOf(sourceId, owner);
        return isEnded;
      });
      const count = (await Promise.all(ended)).filter(Boolean).length;
      if (count === 0)
        throw new CribError('NOT_FOUND', 'This user has no such connection. GET /api/user-connections lists all connections');
      return count;
    },
  };
}

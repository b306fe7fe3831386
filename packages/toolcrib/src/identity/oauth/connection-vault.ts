import { hash, randomUUID } from 'node:crypto';
import { CribError } from '../../model/crib-error.ts';
import type { ChangedBy } from '../../model/event.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import { openConnection, sealConnection } from '../../secrets/sealed-connection.ts';
import type { ConnectionRow } from '../../store/connections.ts';
import { readJson, readRow } from '../../store/read-row.ts';
import type { Store, StoreNouns } from '../../store/store.ts';
import { connectionContentSchema, type ConnectionContent } from './connection-content.ts';

export interface Connection {
  row: ConnectionRow;
  content: ConnectionContent;
}

/** The result of a change; columns that are not named stay as they are. */
type Edited = Partial<Pick<ConnectionRow, 'locked_until' | 'state_hash' | 'state_expires_at' | 'connected_at'>> & {
  content: ConnectionContent;
};

export interface ConnectionVault {
  read(sourceId: string, owner: string): Promise<Connection | undefined>;
  findByState(state: string): Promise<Connection | undefined>;
  /**
   * Reads, edits and writes, and does so again where somebody else has written in between. Resolves with the new content, or undefined where
   * `edit` leaves it alone. With `record`, the change is recorded, as one by the owner unless `by` says otherwise, and the other servers
   * hear of it.
   */
  change(
    place: Place,
    edit: (current: Connection | undefined) => Edited | undefined,
    record?: string,
    by?: ChangedBy,
  ): Promise<Connection | undefined>;
  /** Resolves with the deleted connection. */
  delete(place: Place, by?: ChangedBy): Promise<ConnectionRow | undefined>;
  open(row: ConnectionRow): ConnectionContent;
}

interface Place {
  sourceId: string;
  owner: string;
}

const maxAttempts = 20;

/** [SEC-3] The connections, sealed in the database and bound to their source and owner. */
export function createConnectionVault({ store, keyRing, now }: { store: Store; keyRing: KeyRing; now: () => number }): ConnectionVault {
  function open(row: ConnectionRow): ConnectionContent {
    return readRow(connectionContentSchema, 'connections', row.id, readJson('connections', row.id, openConnection(keyRing, row)));
  }
  const opened = (row: ConnectionRow | undefined) => row && { row, content: open(row) };

  /** False where somebody else was faster. */
  async function write(nouns: StoreNouns, row: ConnectionRow, isNew: boolean): Promise<boolean> {
    return isNew ? nouns.connections.insert(row) : nouns.connections.update(row);
  }

  function rowFor({ sourceId, owner }: Place, current: Connection | undefined, { content, ...columns }: Edited): ConnectionRow {
    const at = now();
    const row = current?.row ?? {
      id: randomUUID(),
      source_id: sourceId,
      owner,
      version: 1,
      locked_until: 0,
      state_hash: null,
      state_expires_at: null,
      connected_at: null,
      created_at: at,
    };
    return { ...row, ...columns, updated_at: at, sealed: sealConnection(keyRing, JSON.stringify(content), row) };
  }

  return {
    open,
    read: async (sourceId, owner) => opened(await store.connections.get(sourceId, owner)),
    findByState: async (state) => opened(await store.connections.getByState(stateHash(state))),

    async change(place, edit, record, by) {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const current = opened(await store.connections.get(place.sourceId, place.owner));
        const edited = edit(current);
        if (edited === undefined) return undefined;
        const row = rowFor(place, current, edited);
        const isNew = current === undefined;
        let written = false;
        if (record === undefined) written = await write(store, row, isNew);
        else {
          const event = {
            kind: record,
            topic: 'connection',
            subject: place.sourceId,
            actor: place.owner,
            ...by,
            before: null,
            after: null,
          } as const;
          await store
            .change(event, async (tx) => {
              written = await write(tx, row, isNew);
              if (!written) throw new Overtaken();
            })
            .catch(passOver);
        }
        if (written) return { row: { ...row, version: isNew ? row.version : row.version + 1 }, content: edited.content };
      }
      throw new CribError('CONFLICT', 'Others keep changing this connection: try again', { retryable: true });
    },

    async delete({ sourceId, owner }, by) {
      const event = {
        kind: 'connection-revoked',
        topic: 'connection',
        subject: sourceId,
        actor: owner,
        ...by,
        // Says whose connection it was, whoever ended it.
        before: { owner },
        after: null,
      } as const;
      let row: ConnectionRow | undefined;
      const deleting = store.change(event, async (tx) => {
        // Read together with the deletion: tokens that were renewed a moment ago are the ones to revoke.
        row = await tx.connections.get(sourceId, owner);
        if (row === undefined) throw new Overtaken();
        await tx.connections.delete(row.id);
      });
      await deleting.catch(passOver);
      return row;
    },
  };
}

/** The form of a state in the database: somebody who reads it there cannot use it. */
export function stateHash(state: string): string {
  return hash('sha256', state, 'base64url');
}

/** Rolls back the record of a change that was not made. */
class Overtaken extends Error {}

function passOver(error: unknown): void {
  if (!(error instanceof Overtaken)) throw error;
}

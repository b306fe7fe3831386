import { sql } from 'kysely';
import type { AuditHead } from '../../model/audit.ts';
import { CribError } from '../../model/crib-error.ts';
import { lockChanges } from '../change-lock.ts';
import { insertIntoPostgres } from '../audit/insert-into-postgres.ts';
import { rowInserter } from '../audit/insert-into-sqlite.ts';
import { ledgers, type InsertRows } from '../audit/ledgers.ts';
import { rowMac, type ChainKeys } from '../audit/mac.ts';
import { openChain, type OpenedChain } from '../audit/open-chain.ts';
import type { Database } from '../database.ts';
import { isRejectedValue } from '../storage-trouble.ts';
import type { StoredValue } from '../stored-values.ts';
import type { Queries } from '../tables.ts';
import { readPosition, writePosition, type Position } from './position.ts';

const ledger = ledgers.calls;

/** What is brought in at once: some entries in a row. */
interface Piece {
  from: Position;
  to: Position;
  rows: readonly (readonly StoredValue[])[];
  /** How many entries before these are missing. */
  missing: number;
}

interface ImportRows {
  importPiece(piece: Piece): Promise<void>;
  /** The last row that was surely written. */
  readonly last: AuditHead | undefined;
}

interface ImportRowsInput {
  database: Database;
  keys: ChainKeys;
  /** The last row of a chain that is to be continued. */
  head: AuditHead | undefined;
  now(): number;
  warn(message: string): void;
}

/**
 * [SEC-4] Chains the rows of a journal, whose macs were checked, and writes them together with the position, so that both are there or
 * neither is. Rows that are there already are left as they are. Entries that are missing leave a gap in the chain, which every later
 * verification shows.
 */
export function createImportRows({ database, keys, head: continued, now, warn }: ImportRowsInput): ImportRows {
  const { kysely, dialect } = database;
  const insert = insertOf(database);
  let head: { chain: Pick<OpenedChain, 'id'>; seq: number; mac: string } | undefined = continued && {
    chain: { id: continued.chain },
    seq: continued.seq,
    mac: continued.mac,
  };
  let last = continued;

  async function commit(piece: Piece, rows: Piece['rows'], notesPosition = true): Promise<void> {
    const before = head;
    head = undefined;
    head = await kysely.transaction().execute(async (transaction) => {
      const noted = await readPosition(transaction, keys, piece.from.server);
      // An earlier commit has succeeded, though we were not told.
      if (noted?.position.mac === piece.to.mac && piece.to.mac !== piece.from.mac) return undefined;
      if (noted?.position.mac !== piece.from.mac) throw movedPosition();
      let next = before;
      if (rows.length > 0) {
        if (next === undefined) {
          await lockChanges(transaction, dialect);
          const chain = await openChain(transaction, keys, ledger.name, now());
          next = { chain, seq: 0, mac: chain.mac };
        }
        let { seq, mac } = next;
        const { chain } = next;
        seq += piece.missing;
        const chained = rows.map((values) => {
          seq += 1;
          mac = rowMac(keys.newest.key, { ledger, chain: chain.id, seq, previous: mac }, values);
          return [...values, chain.id, seq, mac];
        });
        await insert(transaction, chained);
        next = { chain, seq, mac };
      }
      if (notesPosition) await writePosition(transaction, keys, piece.to);
      return next;
    });
    if (head !== undefined && head.seq > 0) last = { ledger: ledger.name, chain: head.chain.id, seq: head.seq, mac: head.mac };
  }

  /** Which of these calls are recorded already. */
  async function known(rows: Piece['rows']): Promise<Set<unknown>> {
    const ids = rows.map(([id]) => id);
    const query = sql<{ id: string }>`select call_id as id from calls where call_id in (${sql.join(ids)})`;
    return new Set((await query.execute(kysely)).rows.map(({ id }) => id));
  }

  /** One by one: what the database will never take must not hold up the others. It is in the log then. */
  async function importEach(piece: Piece): Promise<void> {
    let { missing } = piece;
    for (const row of piece.rows) {
      if ((await known([row])).size > 0) continue;
      try {
        await commit({ ...piece, missing }, [row], false);
        missing = 0;
      } catch (error) {
        if (!isRejectedValue(error)) throw error;
        warn(`A call cannot be recorded: ${String(error)}. ${JSON.stringify(row)}`);
      }
    }
    await commit(piece, []);
  }

  return {
    async importPiece(piece) {
      try {
        await commit(piece, piece.rows);
      } catch (error) {
        if (!isRejectedValue(error)) throw error;
        await importEach(piece);
      }
    },
    get last() {
      return last;
    },
  };
}

function movedPosition(): CribError {
  const message = 'How far the journal was brought into the database was changed by something else than this server: restart it.';
  return new CribError('CONFLICT', message);
}

/** Within a transaction. */
function insertOf(database: Database): (transaction: Queries, rows: Parameters<InsertRows>[0]) => Promise<void> {
  if (database.dialect === 'postgres') return (transaction, rows) => insertIntoPostgres(transaction, ledger)(rows);
  const insertAll = rowInserter(database.connection, ledger);
  return async (_transaction, rows) => insertAll(rows);
}

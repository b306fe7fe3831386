import type { AuditHead, AuditLedger, AuditProblem, AuditVerdict } from '../../model/audit.ts';
import { auditLedgers } from '../../model/audit.ts';
import type { Database } from '../database.ts';
import { readEntries, type AuditEntry, type EntryRange } from './entries.ts';
import { ledgers } from './ledgers.ts';
import type { ChainKeys } from './mac.ts';
import { latestHeads } from './open-chain.ts';
import { pruneLedger } from './prune-ledger.ts';
import { verifyChains } from './verify-chains.ts';

/** [SEC-4] The record as a whole. Everything runs in pieces, while the server goes on. */
export interface Audit {
  /** The ends of the newest chains, to be noted elsewhere. */
  heads(): Promise<AuditHead[]>;
  /** The key that the newest chain was opened with; undefined where there is none. */
  newestKid(): Promise<string | undefined>;
  /** `expected` are heads that were noted earlier, and must still be there, as must what this server has written itself. */
  verify(expected?: readonly AuditHead[]): Promise<AuditVerdict>;
  /** Page by page, the oldest first. */
  entries(ledger: AuditLedger, range: EntryRange): AsyncGenerator<AuditEntry[]>;
  /** Deletes the oldest rows and leaves a mark that vouches for it; resolves with how many there were. */
  prune(ledger: AuditLedger, beforeMs: number): Promise<number>;
}

interface AuditInput {
  database: Database;
  keys: ChainKeys | undefined;
  /** What this server has written last. */
  own(): AuditHead[];
  journal?: AuditJournal | undefined;
}

/** What is recorded and not in the database yet, as far as the record as a whole is concerned. */
export interface AuditJournal {
  caughtUp(): Promise<void>;
  /** Lets go of what is in the database already, so that it can be deleted. */
  release(): Promise<void>;
  problems(): Promise<AuditProblem[]>;
}

export function createAudit({ database: { kysely }, keys, own, journal }: AuditInput): Audit {
  return {
    async heads() {
      await journal?.caughtUp();
      return latestHeads(kysely);
    },
    newestKid: async () => (await kysely.selectFrom('chains').select('kid').orderBy('id', 'desc').limit(1).executeTakeFirst())?.kid,
    async verify(expected = []) {
      await journal?.caughtUp();
      const all = auditLedgers.map((name) => ledgers[name]);
      const verdicts = await verifyChains({ queries: kysely, keys, expected: [...own(), ...expected], ledgers: all });
      // The calls that follow those in the database are in the journal.
      const ofJournal = (await journal?.problems()) ?? [];
      for (const { ledger, problems } of verdicts) if (ledger === 'calls') problems.push(...ofJournal);
      return { ok: verdicts.every(({ problems }) => problems.length === 0), ledgers: verdicts };
    },
    async *entries(ledger, range) {
      await journal?.caughtUp();
      yield* readEntries(kysely, ledgers[ledger], range);
    },
    async prune(ledger, beforeMs) {
      await journal?.release();
      return pruneLedger({ queries: kysely, keys, ledger: ledgers[ledger], beforeMs });
    },
  };
}

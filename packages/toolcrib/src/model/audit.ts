import { CribError } from './crib-error.ts';

/** [SEC-4] What is recorded: calls with their denials, administrative changes, and requests that were refused at the door. */
export const auditLedgers = ['calls', 'changes', 'refusals'] as const;
export type AuditLedger = (typeof auditLedgers)[number];

/** The last row of a chain as somebody saw it. It stands for every row before it, so one that was noted elsewhere proves them all. */
export interface AuditHead {
  ledger: AuditLedger;
  chain: number;
  seq: number;
  mac: string;
}

/** Something that is not as it was written. */
export interface AuditProblem {
  chain: number | null;
  seq: number | null;
  /** The id of the row, where there is one. */
  id: string | null;
  problem: string;
}

export interface LedgerVerdict {
  ledger: AuditLedger;
  /** Rows that were checked. */
  rows: number;
  chains: number;
  /** Rows from before there were chains, of which nothing can be said. */
  unchained: number;
  /** Of the newest chains, as texts to be noted elsewhere. */
  heads: string[];
  problems: AuditProblem[];
}

export interface AuditVerdict {
  ok: boolean;
  ledgers: LedgerVerdict[];
}

/** `calls:12:3456:<mac>`: one word, to be copied from a log. */
export function formatHead({ ledger, chain, seq, mac }: AuditHead): string {
  return `${ledger}:${chain}:${seq}:${mac}`;
}

const headPattern = `(${auditLedgers.join('|')}):([1-9]\\d{0,14}):([1-9]\\d{0,14}):([\\w-]{43})`;
const headForm = new RegExp(`^${headPattern}$`);
/** Several, with commas between them. */
export const headsForm = new RegExp(`^${headPattern}(,${headPattern})*$`);

export function parseHead(text: string): AuditHead {
  const [, ledger, chain, seq, mac] = headForm.exec(text.trim()) ?? [];
  if (ledger === undefined || mac === undefined) {
    throw new CribError('VALIDATION_ERROR', 'A head looks like calls:12:3456:<mac>, as the log and a verification show it', {
      field: 'expect',
    });
  }
  return { ledger: ledger as AuditLedger, chain: Number(chain), seq: Number(seq), mac };
}

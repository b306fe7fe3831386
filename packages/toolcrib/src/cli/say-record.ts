import type { AuditVerdict } from '../model/audit.ts';
import { complain } from './terminal.ts';

/** Reports what is wrong with a restored or copied record, and returns the exit code. */
export function sayRecord({ ok, ledgers }: AuditVerdict): number {
  for (const { ledger, problems } of ledgers)
    for (const { problem, chain, seq } of problems.slice(0, 10)) complain(`${ledger}: chain ${chain}, row ${seq}: ${problem}`);
  if (!ok) complain('The record was changed after it was written. `toolcrib audit verify` shows all of it.');
  return ok ? 0 : 1;
}

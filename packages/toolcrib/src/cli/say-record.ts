import type { AuditVerdict } from '../model/audit.ts';
import { complain } from './terminal.ts';

/** Names what is wrong with a record that was restored or copied, and gives the exit code. */
export function sayRecord({ ok, ledgers }: AuditVerdict): number {
  for (const { ledger, problems } of ledgers)
    for (const { problem, chain, seq } of problems.slice(0, 10)) complain(`${ledger}: chain ${chain}, row ${seq}: ${problem}`);
  if (!ok) complain('The record is not as it was written. `toolcrib audit verify` shows all of it.');
  return ok ? 0 : 1;
}

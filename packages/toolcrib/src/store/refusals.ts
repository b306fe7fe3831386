import type { Refusal, RefusalKind } from '../model/refusal.ts';
import type { ChainWriter } from './audit/chain-writer.ts';
import { ledgers } from './audit/ledgers.ts';
import { storedValues } from './stored-values.ts';
import type { Queries } from './tables.ts';

export interface RefusalPage {
  /** Only those before this one. */
  before?: string;
  limit: number;
  kind?: RefusalKind;
}

const columns = ledgers.refusals.columns.map(([name]) => name as keyof Refusal);

export type Refusals = ReturnType<typeof createRefusals>;

export function createRefusals(queries: Queries, writer: ChainWriter) {
  return {
    async append(refusals: readonly Refusal[]): Promise<void> {
      if (refusals.length > 0) await writer.append(refusals.map((refusal) => storedValues(ledgers.refusals.columns, refusal)));
    },

    /** The newest first. */
    async list({ before, limit, kind }: RefusalPage): Promise<Refusal[]> {
      let query = queries.selectFrom('refusals').select(columns).orderBy('id', 'desc').limit(limit);
      if (before !== undefined) query = query.where('id', '<', before);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      return query.execute();
    },
  };
}

import type { AuditHead, AuditLedger } from '../model/audit.ts';
import type { CallRecord } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Refusal } from '../model/refusal.ts';
import type { Store } from '../store/store.ts';
import type { RefusalLog } from './refusal-log.ts';

/** [SEC-4] The record of calls, changes and refusals, for administrators. */
export interface Records {
  /** Throws `NOT_FOUND` if the call is not on record. */
  call(callId: string): Promise<CallRecord>;
  readonly calls: Pick<Store['calls'], 'list' | 'ended'>;
  readonly changes: Pick<Store['events'], 'list'>;
  refusals(page: Parameters<Store['refusals']['list']>[0]): Promise<Refusal[]>;
  /** All entries of a ledger, oldest first, in pages. */
  entries(ledger: AuditLedger, range: Parameters<Store['audit']['entries']>[1]): ReturnType<Store['audit']['entries']>;
  /** Checks that the record is unaltered and still contains the expected heads. */
  verify(expected?: readonly AuditHead[]): ReturnType<Store['audit']['verify']>;
}

interface RecordsInput {
  store: Store;
  /** Refusals are written in batches: flushed before every read, so that readers see all of them. */
  refusals: Pick<RefusalLog, 'flush'>;
}

export function createRecords({ store, refusals }: RecordsInput): Records {
  return {
    async call(callId) {
      const record = await store.calls.get(callId);
      if (record === undefined) throw new CribError('NOT_FOUND', 'There is no record of this call');
      return record;
    },
    calls: store.calls,
    changes: store.events,
    async refusals(page) {
      await refusals.flush();
      return store.refusals.list(page);
    },
    async *entries(ledger, range) {
      await refusals.flush();
      yield* store.audit.entries(ledger, range);
    },
    async verify(expected) {
      await refusals.flush();
      return store.audit.verify(expected);
    },
  };
}

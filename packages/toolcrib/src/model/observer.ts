import type { CallRecord } from './call.ts';
import type { ErrorCode } from './crib-error.ts';
import type { SourceRecord } from './source.ts';
import type { Tool } from './tool.ts';

/** What happened to a call on its way that the status of its answer does not show. */
export type CallNotice = 'retried' | 'cut' | 'output-schema-violated';

/** What happened to a source that its status does not show. */
export type SourceNotice = 'restarted' | 'heartbeat-failed' | 'standby-used' | 'standby-missed';

/** [ID-3] How a caller got the token for a source. */
export type ExchangeOutcome = 'cached' | 'exchanged' | 'denied' | 'failed';

/** [OPS-1] Watches what the crib does. The crib tells one observer everything and never waits for it; an observer must not throw. */
export interface Observer {
  /** A call has ended, or was refused. */
  callFinished(record: CallRecord): void;
  callNoticed(notice: CallNotice, tool: Tool): void;
  /** A call failed because of its source, and not because of its caller, its tool or the gateway. */
  callFailedBySource(code: ErrorCode, tool: Tool): void;
  sourceNoticed(notice: SourceNotice, source: SourceRecord): void;
  /** Zero milliseconds where the token came from memory. */
  tokenExchanged(outcome: ExchangeOutcome, ms: number): void;
  /** One batch of call records was written, or could not be. */
  recordWritten(batch: { seconds: number; failed: boolean }): void;
  /** [SEC-4] How far the audit record has come, every hour and at the end: noted elsewhere, it proves what was there. */
  auditHeadsRead(heads: string[]): void;
}

/** For a crib that nobody watches. */
export const noObserver: Observer = {
  callFinished: () => undefined,
  callNoticed: () => undefined,
  callFailedBySource: () => undefined,
  sourceNoticed: () => undefined,
  tokenExchanged: () => undefined,
  recordWritten: () => undefined,
  auditHeadsRead: () => undefined,
};

import type { SourceRedactors } from '../../../secrets/redactor.ts';
import { createServerLog, type ServerLog } from './server-log.ts';

export interface ServerLogs {
  /** The log of one source, which outlives its processes. */
  of(sourceId: string): ServerLog;
  /** For a source that was removed. */
  forget(sourceId: string): void;
}

export function createServerLogs({ redactors }: { redactors: SourceRedactors }): ServerLogs {
  const logs = new Map<string, ServerLog>();
  return {
    of(sourceId) {
      let log = logs.get(sourceId);
      if (log === undefined) {
        log = createServerLog({ redact: (text) => redactors.forSource(sourceId).redact(text) });
        logs.set(sourceId, log);
      }
      return log;
    },
    forget: (sourceId) => void logs.delete(sourceId),
  };
}

import type { Redactor } from '../../../secrets/redactor.ts';
import { createLogWriter } from './log-writer.ts';
import type { ServerLog } from './server-log.ts';

/** Longer than the lines of the log, which cuts them itself. */
const maxLineLength = 16_384;

/** [ENV-4] The log of a source for one process, without a secret that only this process knows. */
export function redactedLog(log: ServerLog, redactor: Pick<Redactor, 'redact'>): ServerLog {
  const redact = (text: string) => redactor.redact(text);
  return {
    ...log,
    append: (stream, text) => log.append(stream, redact(text)),
    writer: (stream) => createLogWriter({ redact, maxLineLength, onLine: (text) => log.append(stream, text) }),
  };
}

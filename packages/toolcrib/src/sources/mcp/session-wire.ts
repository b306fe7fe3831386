import type { Redactor } from '../../secrets/redactor.ts';
import type { WireLog } from './wire-logs.ts';
import { wireText } from './wire-text.ts';

/** What is told every message of a session. */
export interface Wire {
  /** Looked at before every message, so that nothing is paid for it otherwise. */
  readonly on: boolean;
  note(direction: 'sent' | 'received', message: unknown): void;
}

/** [ENV-4] [OPS-1] The messages of one session, which may know a secret that the others do not: the token of its user. */
export function sessionWire(wireLog: WireLog, redactor: Pick<Redactor, 'redact'>): Wire {
  return {
    get on() {
      return wireLog.on;
    },
    note: (direction, message) => wireLog.log.append(direction, redactor.redact(wireText(message))),
  };
}

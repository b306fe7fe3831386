import type { Redactor } from '../../../secrets/redactor.ts';
import type { WireLog } from './wire-logs.ts';
import { wireText } from './wire-text.ts';

/** Notes every message of a session. */
export interface Wire {
  /** Check `on` before every message: while it is off, noting must cost nothing. */
  readonly log: Pick<WireLog, 'on'>;
  note(direction: 'sent' | 'received', message: unknown): void;
}

/** [ENV-4] [OPS-1] The wire log for one session, without the secret that only this session knows: the token of its user. */
export function sessionWire(wireLog: WireLog, redactor: Pick<Redactor, 'redact'>): Wire {
  return {
    log: wireLog,
    note: (direction, message) => wireLog.log.append(direction, redactor.redact(wireText(message))),
  };
}

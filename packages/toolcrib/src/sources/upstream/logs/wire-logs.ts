import type { SourceRedactors } from '../../../secrets/redactor.ts';
import { createServerLog, type ServerLog } from './server-log.ts';

/** [OPS-1] The messages to and from one source, logged while this is on. */
export interface WireLog {
  readonly on: boolean;
  readonly log: ServerLog;
  /** When logging ends by itself, in epoch milliseconds; null while it is off. */
  readonly until: number | null;
  /** Logs messages from now on, until this time at the latest. */
  start(until: number): void;
  stop(): void;
}

export interface WireLogs {
  of(sourceId: string): WireLog;
  forget(sourceId: string): void;
}

const limits = { maxLines: 1000, maxBytes: 1_048_576, maxLineLength: 8192 };

/** Off by default, and switches itself off again, because it holds what users send and receive. */
export function createWireLogs({ redactors }: { redactors: SourceRedactors }): WireLogs {
  const logs = new Map<string, WireLog>();
  return {
    of(sourceId) {
      let log = logs.get(sourceId);
      if (log === undefined) {
        log = new SwitchedLog((text) => redactors.forSource(sourceId).redact(text));
        logs.set(sourceId, log);
      }
      return log;
    },
    forget(sourceId) {
      logs.get(sourceId)?.stop();
      logs.delete(sourceId);
    },
  };
}

class SwitchedLog implements WireLog {
  readonly log: ServerLog;
  on = false;
  until: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(redact: (text: string) => string) {
    this.log = createServerLog({ redact, ...limits });
  }

  start(until: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(), until - Date.now()).unref();
    this.until = until;
    this.on = true;
    this.log.append('event', `Messages are logged until ${new Date(until).toISOString()}`);
  }

  stop(): void {
    if (!this.on) return;
    clearTimeout(this.#timer);
    this.on = false;
    this.until = null;
    this.log.append('event', 'Messages are no longer logged');
  }
}

import type { SourceRedactors } from '../../secrets/redactor.ts';
import { createServerLog, type ServerLog } from './process/server-log.ts';

/** [OPS-1] What goes over the wire between us and one source, while somebody wants to see it. */
export interface WireLog {
  readonly on: boolean;
  readonly log: ServerLog;
  /** When it ends by itself, in epoch milliseconds; null while it is off. */
  readonly until: number | null;
  /** From now on, until then at most. */
  start(until: number): void;
  stop(): void;
}

export interface WireLogs {
  of(sourceId: string): WireLog;
  forget(sourceId: string): void;
}

const limits = { maxLines: 1000, maxBytes: 1_048_576, maxLineLength: 8192 };

/** Off until it is switched on, and off again by itself: what users send and get is in it. */
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
    this.log.append('event', `Every message is kept from here on, until ${new Date(until).toISOString()}`);
  }

  stop(): void {
    if (!this.on) return;
    clearTimeout(this.#timer);
    this.on = false;
    this.until = null;
    this.log.append('event', 'Messages are no longer kept');
  }
}

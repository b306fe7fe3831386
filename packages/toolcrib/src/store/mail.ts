import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { CribError } from '../model/crib-error.ts';
import type { Json } from '../model/json.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { Store } from './store.ts';

/** Texts that servers with one database send each other, and that nobody has to keep. */
export interface Mail {
  /** Whether there can be no other server. */
  readonly isAlone: boolean;
  /** Which server this is. */
  readonly server: string;
  /** ASCII only. Every server that listens gets it, this one too. */
  send(text: string): Promise<void>;
  onMail(listener: (text: string) => void): void;
}

export const mailSignal = 'mail';

/** A notification has room for less than 8000 bytes. */
const partSize = 7000;
const mostParts = 1000;
/** Texts of which a part is missing. */
const mostIncomplete = 500;

const partSchema = z.strictObject({ id: z.string(), n: z.int(), of: z.int().max(mostParts), text: z.string() });

interface MailInput {
  store: Pick<Store, 'signal'>;
  server: string;
  isAlone: boolean;
}

export function createMail({ store, server, isAlone }: MailInput): Mail & { receive(payload: Json): void } {
  const incomplete = new RecentMap<Map<number, string>>(mostIncomplete);
  const listeners: ((text: string) => void)[] = [];
  return {
    isAlone,
    server,
    async send(text) {
      const of = Math.ceil(text.length / partSize);
      if (of > mostParts) throw new CribError('PAYLOAD_TOO_LARGE', 'The message is too large to be sent to another server');
      const id = randomUUID();
      for (let n = 0; n < of; n++) await store.signal(mailSignal, { id, n, of, text: text.slice(n * partSize, (n + 1) * partSize) });
    },
    onMail: (listener) => void listeners.push(listener),
    receive(payload) {
      const { success, data } = partSchema.safeParse(payload);
      if (!success) return;
      const parts = incomplete.get(data.id) ?? new Map<number, string>();
      parts.set(data.n, data.text);
      if (parts.size < data.of) return incomplete.set(data.id, parts);
      incomplete.delete(data.id);
      const text = [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part);
      for (const listener of listeners) listener(text.join(''));
    },
  };
}

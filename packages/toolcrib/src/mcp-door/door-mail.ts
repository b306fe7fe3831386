import { z } from 'zod';
import { parsedJson } from '../model/json.ts';
import type { Seals } from '../secrets/seals.ts';
import type { Mail } from '../store/mail.ts';
import { logLevels } from './door-exchange.ts';

const session = z.string();
const jsonObject = z.record(z.string(), z.json());

/** What servers with one database tell each other about the clients that they share. */
const mailSchema = z.discriminatedUnion('kind', [
  /** The client has ended a session. */
  z.strictObject({ kind: z.literal('end'), session }),
  /** An answer to a question that another server has asked. */
  z.strictObject({ kind: z.literal('answer'), session, message: jsonObject }),
  z.strictObject({ kind: z.literal('cancel'), session, id: z.union([z.string(), z.number()]) }),
  z.strictObject({ kind: z.literal('level'), session, level: z.enum(logLevels) }),
  /** Something for the stream on which a session is told things, wherever that is. */
  z.strictObject({ kind: z.literal('speak'), session, json: z.string() }),
  /** The next round of a call that waits at another server, on behalf of a client that came here. */
  z.strictObject({
    kind: z.literal('round'),
    to: z.string(),
    errand: z.string(),
    round: z.string(),
    owner: z.string(),
    isCall: z.boolean(),
    toolId: z.string(),
    args: jsonObject,
    responses: jsonObject,
    abilities: z.strictObject({ elicitation: z.boolean(), sampling: z.boolean(), roots: z.boolean() }),
    progressToken: z.union([z.string(), z.number()]).optional(),
    logLevel: z.enum(logLevels).optional(),
  }),
  /** What came of it: notifications, and the result or the error. */
  z.strictObject({ kind: z.literal('round-notice'), to: z.string(), errand: z.string(), method: z.string(), params: jsonObject }),
  z.strictObject({ kind: z.literal('round-taken'), to: z.string(), errand: z.string() }),
  z.strictObject({ kind: z.literal('round-result'), to: z.string(), errand: z.string(), text: z.string(), isQuestion: z.boolean() }),
  z.strictObject({
    kind: z.literal('round-error'),
    to: z.string(),
    errand: z.string(),
    code: z.number(),
    message: z.string(),
    status: z.number(),
    data: z.json().optional(),
  }),
  /** The client has gone away. */
  z.strictObject({ kind: z.literal('round-gone'), to: z.string(), errand: z.string() }),
]);

export type DoorMessage = z.output<typeof mailSchema>;
export type DoorMessageOf<Kind extends DoorMessage['kind']> = Extract<DoorMessage, { kind: Kind }>;

const place = { id: 'mcp-door', field: 'mail' };
const envelopeSchema = z.strictObject({ from: z.string(), message: mailSchema });

/** [DOOR-4] Messages between the doors of servers with one database, sealed: what clients answer is nobody else's business. */
export class DoorMail {
  readonly #mail: Mail;
  readonly #seals: Seals;
  readonly #handlers = new Map<string, (message: never, from: string) => void>();

  constructor({ mail, seals }: { mail: Mail; seals: Seals }) {
    this.#mail = mail;
    this.#seals = seals;
    mail.onMail((text) => this.#receive(text));
  }

  get server(): string {
    return this.#mail.server;
  }

  get isAlone(): boolean {
    return this.#mail.isAlone;
  }

  on<Kind extends DoorMessage['kind']>(kind: Kind, handler: (message: DoorMessageOf<Kind>, from: string) => void): void {
    this.#handlers.set(kind, handler);
  }

  /** Rejects where the database does not take it. */
  async send(message: DoorMessage): Promise<void> {
    if (!this.isAlone) await this.#mail.send(this.#seals.seal(JSON.stringify({ from: this.server, message }), place));
  }

  /** The same where nothing more can be done about a failure. */
  tell(message: DoorMessage): void {
    this.send(message).catch(() => undefined);
  }

  #receive(text: string): void {
    const opened = this.#seals.open(text, place);
    const { success, data } = envelopeSchema.safeParse(opened === undefined ? undefined : parsedJson(opened));
    if (!success || data.from === this.server) return;
    const { message, from } = data;
    if ('to' in message && message.to !== this.server) return;
    this.#handlers.get(message.kind)?.(message as never, from);
  }
}

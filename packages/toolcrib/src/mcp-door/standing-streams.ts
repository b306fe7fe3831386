import { endWithToken } from '../http/end-with-token.ts';
import type { DoorCaller } from './door-caller.ts';
import type { DoorMethods } from './door-methods.ts';
import type { Visit } from './door-visit.ts';
import type { LiveSession } from './live-session.ts';
import type { OpenStreams } from './open-streams.ts';
import { notificationText } from './rpc.ts';
import { parseEventId, type StreamLog } from './stream-log.ts';

/** How long what is said is kept for a client that has lost its stream. */
const graceMs = 60_000;

interface StandingStreamsInput {
  methods: DoorMethods;
  open: OpenStreams;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
}

/** [DOOR-5] The streams on which the server speaks by itself, and the rest of those whose connection was lost. */
export class StandingStreams {
  readonly #input: StandingStreamsInput;
  /** Who follows the lists of a session's caller, once for all its streams, and how to stop that. */
  readonly #following = new WeakMap<LiveSession, () => void>();

  constructor(input: StandingStreamsInput) {
    this.#input = input;
  }

  open({ principal, address, headers, reply }: Visit, session: LiveSession): void {
    const lastSeen = headers['last-event-id'];
    const resumed = typeof lastSeen === 'string' ? parseEventId(lastSeen) : undefined;
    // A stream belongs to its session, and so to its person.
    const known = resumed && session.streamOf(resumed.stream);
    const closed = this.#input.open.take(principal.key);
    const writer = reply.stream(['mcp-session-id', session.id]);
    writer.onClose(closed);
    const stream = known ?? session.openStanding();
    stream.attach(writer, known === undefined ? 0 : (resumed?.seen ?? 0));
    endWithToken(
      { closed: false, send: () => undefined, onClose: (listener) => writer.onClose(listener), close: () => writer.end() },
      principal,
      this.#input.closing,
    );
    if (!session.isStanding(stream)) return;
    writer.onClose(() => this.#expire(session, stream));
    if (!this.#following.has(session)) this.#follow(session, { principal, address, ...session.terms });
  }

  #follow(session: LiveSession, caller: DoorCaller): void {
    const stop = this.#input.methods.follow(
      () => ({ ...caller, principal: session.principal }),
      (list) => session.speak(notificationText(`notifications/${list}/list_changed`, undefined)),
    );
    this.#following.set(session, stop);
  }

  #expire(session: LiveSession, stream: StreamLog): void {
    setTimeout(() => {
      if (stream.isRead) return;
      session.dropStream(stream);
      if (session.hasStanding) return;
      this.#following.get(session)?.();
      this.#following.delete(session);
    }, graceMs).unref();
  }
}

import { RecentMap } from '../model/recent-map.ts';
import { LiveSession } from './live-session.ts';

/** A session that was not used for longer than this many others begins anew, which costs it only what it was asked meanwhile. */
const mostSessions = 20_000;

/** The sessions that this server has served lately, by id. */
export class LiveSessions {
  readonly #sessions = new RecentMap<LiveSession>(mostSessions);

  /** Undefined where the client has ended it. */
  of(id: string): LiveSession | undefined {
    let session = this.#sessions.get(id);
    if (session === undefined) {
      session = new LiveSession();
      this.#sessions.set(id, session);
    }
    return session.isEnded ? undefined : session;
  }

  get size(): number {
    return this.#sessions.size;
  }
}

import type { Client } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import type { EndSignal } from '../../../model/end-signal.ts';
import { Exchange } from './exchange.ts';
import type { ResourceWatcher } from './mcp-session.ts';
import type { Requests } from './requests.ts';

/** [DOOR-5] Not a method of the protocol: `resources/subscribe` or `subscriptions/listen`, whichever the server speaks. */
export const watchMethod = 'resources/watch';

interface ResourceWatchesInput {
  client: Client;
  requests: Requests;
  /** The stateless revision, where a watch is a stream of its own. */
  modern: boolean;
  timeoutMs: number;
}

interface Watch {
  watchers: Set<ResourceWatcher>;
  /** Resolves when the server watches. */
  begun: Promise<unknown>;
  /** Resolves when it does so no more, although somebody still wants it to. */
  ended: PromiseWithResolvers<void>;
  stop(): Promise<unknown>;
}

/** [DOOR-5] The resources of one session that somebody watches. The server is asked once for each, however many watch it. */
export class ResourceWatches {
  readonly #input: ResourceWatchesInput;
  readonly #watches = new Map<string, Watch>();
  /** The end of the last watch of a resource: the next one begins after it. */
  readonly #stopping = new Map<string, Promise<unknown>>();
  #isOver = false;

  constructor(input: ResourceWatchesInput) {
    this.#input = input;
  }

  /** Resolves when the signal ends it, or the session is over. Rejects if the server does not agree. */
  async watch(uri: string, watcher: ResourceWatcher, signal: EndSignal): Promise<void> {
    if (this.#input.client.getServerCapabilities()?.resources?.subscribe !== true) throw notOffered();
    const watch = this.#watches.get(uri) ?? this.#begin(uri);
    watch.watchers.add(watcher);
    const over = Promise.withResolvers<void>();
    signal.addEventListener('abort', over.resolve, { once: true });
    if (signal.aborted || this.#isOver) over.resolve();
    try {
      await Promise.race([watch.begun, over.promise]);
      watcher.begun();
      await Promise.race([watch.ended.promise, over.promise]);
    } finally {
      signal.removeEventListener('abort', over.resolve);
      watch.watchers.delete(watcher);
      if (watch.watchers.size === 0) this.#end(uri, watch);
    }
  }

  /** A server may name a part of what is watched. */
  updated(uri: string): void {
    for (const [watched, { watchers }] of this.#watches) {
      if (uri.startsWith(watched)) for (const { updated } of watchers) updated(uri);
    }
  }

  /** The session is over, and so is every watch. */
  end(): void {
    this.#isOver = true;
    for (const { ended } of this.#watches.values()) ended.resolve();
  }

  #begin(uri: string): Watch {
    const ended = Promise.withResolvers<void>();
    const before = this.#stopping.get(uri) ?? Promise.resolve();
    const opened = before.then(() => (this.#input.modern ? this.#listen(uri, ended.resolve) : this.#subscribe(uri)));
    opened.catch(() => undefined);
    const watch = { watchers: new Set<ResourceWatcher>(), begun: opened, ended, stop: async () => (await opened)() };
    this.#watches.set(uri, watch);
    return watch;
  }

  #end(uri: string, watch: Watch): void {
    if (this.#watches.get(uri) === watch) this.#watches.delete(uri);
    if (this.#isOver) return;
    // A server that could not be asked has nothing to end.
    const stopped: Promise<unknown> = watch
      .stop()
      .catch(() => undefined)
      .finally(() => {
        if (this.#stopping.get(uri) === stopped) this.#stopping.delete(uri);
      });
    this.#stopping.set(uri, stopped);
  }

  async #subscribe(uri: string): Promise<() => Promise<unknown>> {
    await this.#send('resources/subscribe', uri);
    return () => this.#send('resources/unsubscribe', uri);
  }

  async #send(method: string, uri: string): Promise<unknown> {
    const { requests, timeoutMs } = this.#input;
    const exchange = new Exchange({ timeoutMs, maxTotalMs: timeoutMs, signal: new AbortController().signal }, false);
    try {
      return await requests.send(method, { uri }, exchange);
    } finally {
      exchange.done();
    }
  }

  async #listen(uri: string, ended: () => void): Promise<() => Promise<unknown>> {
    const { client, timeoutMs } = this.#input;
    const subscription = await client.listen({ resourceSubscriptions: [uri] }, { timeout: timeoutMs });
    if (subscription.honoredFilter.resourceSubscriptions?.includes(uri) !== true) {
      await subscription.close();
      throw notOffered();
    }
    void subscription.closed.then(ended);
    return () => subscription.close();
  }
}

function notOffered(): CribError {
  return new CribError('NOT_FOUND', 'The server of this resource does not tell of changes to it', { retryable: false, origin: 'caller' });
}

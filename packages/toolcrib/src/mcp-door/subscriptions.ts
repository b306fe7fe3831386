import { parseArtifactUri } from './artifact-uri.ts';
import type { DoorCaller } from './door-caller.ts';
import type { DoorParts } from './door-parts.ts';
import type { DoorTools } from './door-tools.ts';
import type { OfferMethods } from './offer-methods.ts';
import { DoorError, rpcCodes } from './rpc.ts';
import type { Offer } from './source-offers.ts';
import { watchSource } from './source-watch.ts';

/** Of one session or stream. */
const mostWatched = 100;
/** Changes that come together are told once. */
const collectMs = 100;

interface SubscriptionsInput {
  parts: DoorParts;
  offers: Pick<OfferMethods, 'placesOf' | 'checkArtifact'>;
  toolsOf(caller: DoorCaller): DoorTools;
  /** Whoever watches, with the newest token that was seen. */
  caller(): DoorCaller;
  updated(uri: string): void;
}

/** [DOOR-5] The resources that one session or stream wants to hear of. */
export class Subscriptions {
  readonly #input: SubscriptionsInput;
  readonly #stops = new Map<string, Promise<() => void>>();
  readonly #told = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(input: SubscriptionsInput) {
    this.#input = input;
  }

  /** Rejects where the caller has no such resource, or its source tells of no changes. */
  async add(uri: string): Promise<void> {
    if (this.#stops.has(uri)) return void (await this.#stops.get(uri));
    if (this.#stops.size >= mostWatched)
      throw new DoorError(rpcCodes.invalidParams, `A session can subscribe to ${mostWatched} resources: unsubscribe from others first`);
    const stop = this.#begin(uri);
    this.#stops.set(uri, stop);
    try {
      await stop;
    } catch (error) {
      this.#stops.delete(uri);
      throw error;
    }
  }

  remove(uri: string): void {
    const stop = this.#stops.get(uri);
    this.#stops.delete(uri);
    stop?.then((end) => end()).catch(() => undefined);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const uri of this.#stops.keys()) this.remove(uri);
  }

  async #begin(uri: string): Promise<() => void> {
    const { offers, caller } = this.#input;
    if (parseArtifactUri(uri) !== undefined) {
      await offers.checkArtifact(caller(), uri);
      // It never changes.
      return () => undefined;
    }
    let refusal: unknown;
    for (const place of await offers.placesOf(caller(), uri)) {
      try {
        return await this.#watch(uri, place);
      } catch (error) {
        refusal = error;
      }
    }
    throw refusal ?? new DoorError(rpcCodes.resourceNotFound, 'Resource not found', { data: { uri: uri.slice(0, 2000) } });
  }

  #watch(uri: string, place: Pick<Offer, 'like' | 'id'>): Promise<() => void> {
    const { parts, caller, toolsOf } = this.#input;
    return watchSource({
      supervisor: parts.supervisor,
      principal: () => caller().principal,
      place,
      updated: (changed) => {
        // The policies may have changed since.
        const isTheirs = toolsOf(caller()).tools.some(({ source_id }) => source_id === place.like.source_id);
        // A part of it is named in the way of the whole.
        if (isTheirs) this.#tell(uri.endsWith(place.id) ? `${uri.slice(0, -place.id.length)}${changed}` : uri);
      },
    });
  }

  #tell(uri: string): void {
    if (this.#isOver || this.#told.size >= mostWatched) return;
    this.#told.add(uri);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const told = [...this.#told];
      this.#told.clear();
      for (const each of told) this.#input.updated(each);
    }, collectMs).unref();
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { EndSwitch } from '../model/end-signal.ts';
import type { ContentBlock } from '../model/call.ts';
import { isObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import { backoffMs } from '../resilience/backoff.ts';
import { watchMethod } from '../sources/mcp/session/resource-watches.ts';
import type { DoorParts } from './door-parts.ts';
import { DoorError, rpcCodes } from './rpc.ts';
import type { Offer } from './source-offers.ts';
import { sourceRequest } from './source-request.ts';

const firstPauseMs = 500;

interface SourceWatchInput {
  supervisor: DoorParts['supervisor'];
  /** As whom the source is asked; asked anew whenever the watch has to begin anew. */
  principal(): Principal;
  place: Pick<Offer, 'like' | 'id'>;
  /** The resource, or a part of it, has changed, or may have while nobody watched. */
  updated(uri: string): void;
}

/**
 * [DOOR-5] Watches one resource of a source as its caller, in whichever way its server offers that. Resolves when the server watches, and
 * rejects if it does not agree. From then on the watch outlives its session, with growing pauses, until the returned function ends it.
 */
export async function watchSource({ supervisor, principal, place: { like, id }, updated }: SourceWatchInput): Promise<() => void> {
  const signal = new EndSwitch();
  const begun = Promise.withResolvers<void>();
  let failures = 0;
  let times = 0;
  const watcher = {
    begun() {
      failures = 0;
      begun.resolve();
      if (times++ > 0) updated(id);
    },
    updated,
  };

  async function watchOnce(): Promise<void> {
    const context = {
      callId: watchMethod,
      principal: principal(),
      signal,
      watcher,
      progress() {},
      log() {},
      elicit: () => Promise.resolve({ action: 'decline' }),
    };
    const output = await supervisor.sourceOf(like.source_id)?.call(sourceRequest(watchMethod, like), { uri: id }, context);
    if (output === undefined) throw new DoorError(rpcCodes.internal, 'The source of this resource is not there');
    if (output.is_error === true) throw refusalOf(output.metadata?.['rpc_error'], output.content[0]);
  }

  async function keepWatching(): Promise<void> {
    while (!signal.aborted) {
      await watchOnce().catch((error: unknown) => {
        if (times === 0) throw error;
      });
      if (signal.aborted) return;
      // The session has ended, or could not be opened.
      const pauseMs = backoffMs(failures++, firstPauseMs);
      await delay(pauseMs, undefined, { ref: false, signal: signal.toAbortSignal() }).catch(() => undefined);
    }
  }

  keepWatching().catch(begun.reject);
  await begun.promise;
  return () => signal.end(new Error('Nobody watches any more'));
}

function refusalOf(failure: unknown, first: ContentBlock | undefined): DoorError {
  const code = isObject(failure) && typeof failure['code'] === 'number' ? failure['code'] : rpcCodes.internal;
  return new DoorError(code, typeof first?.['text'] === 'string' ? first['text'] : 'The source does not agree to tell of changes');
}

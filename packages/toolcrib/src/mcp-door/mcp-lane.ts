import type { IncomingMessage } from 'node:http';
import type { createHostGuard } from '../http/browser-guard.ts';
import { knownCaller, type Handle } from '../http/plain-calls.ts';
import { isPlainPost, type PlainPostInput } from '../http/plain-head.ts';
import { markRead, plainHeaders } from '../http/send-plain-answer.ts';
import { TakenBody } from '../http/taken-body.ts';
import { RecentMap } from '../model/recent-map.ts';
import { doorAddress, type DoorAddress } from './door-address.ts';
import { DoorReply } from './door-reply.ts';
import { doorResource } from './door-resource.ts';
import type { DoorService } from './door-service.ts';
import type { DoorTokens } from './door-tokens.ts';

export interface McpLaneInput extends PlainPostInput {
  service: Pick<DoorService, 'post'>;
  tokens: DoorTokens;
  /** Where callers reach the server, without a slash at its end. */
  publicUrl: string;
  guard: ReturnType<typeof createHostGuard>;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
}

const urlPattern = /^\/mcp(?:\/([a-z0-9][a-z0-9_-]{0,63}))?(?:\?(mode|names)=([a-z]+)(?:&(mode|names)=([a-z]+))?)?$/;
const mostAddresses = 1000;
type KnownAddress = { address: DoorAddress; resource: string };

/**
 * [DOOR-1] A lane for what nearly all requests at the door are: JSON that is posted to a plain address by a caller whose token is known. The
 * framework's way around the service is left out, and nothing else: what is asked and how it is answered is the same service's business.
 */
export function createMcpLane({ service, tokens, publicUrl, closing, ...input }: McpLaneInput, handle: Handle): Handle {
  const known = new RecentMap<KnownAddress>(mostAddresses);

  /** Undefined where the framework looks at it. */
  function placeOf({ url = '' }: IncomingMessage): KnownAddress | undefined {
    if (!url.startsWith('/mcp')) return undefined;
    const found = known.get(url);
    if (found !== undefined) return found;
    const address = plainAddress(url);
    if (address === undefined) return undefined;
    const place = { address, resource: doorResource(publicUrl, address.group, '').base };
    known.set(url, place);
    return place;
  }

  return function takePost(request, response) {
    const place = closing.aborted ? undefined : placeOf(request);
    const isPlain = place !== undefined && isPlainPost(input, request);
    const principal = isPlain ? knownCaller(tokens, request.headers.authorization, place.resource) : undefined;
    if (place === undefined || principal === undefined) return handle(request, response);
    const { address } = place;
    const body = new TakenBody(request, () => {
      markRead(request);
      service.post({ principal, address, headers: request.headers, reply: new DoorReply(response, plainHeaders) }, body.text);
    });
  };
}

function plainAddress(url: string): DoorAddress | undefined {
  const [isPlain, group, first, firstValue, second, secondValue] = urlPattern.exec(url) ?? [];
  if (isPlain === undefined || (second !== undefined && first === second)) return undefined;
  return doorAddress(group, {
    ...(first !== undefined && { [first]: firstValue }),
    ...(second !== undefined && { [second]: secondValue }),
  });
}

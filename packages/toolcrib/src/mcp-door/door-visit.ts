import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../model/principal.ts';
import type { DoorAddress } from './door-address.ts';
import type { DoorReply } from './door-reply.ts';

/** One HTTP request at the door, by a caller who is known. */
export interface Visit {
  readonly principal: Principal;
  readonly address: DoorAddress;
  readonly headers: IncomingHttpHeaders;
  readonly reply: DoorReply;
}

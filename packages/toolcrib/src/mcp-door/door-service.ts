import { parseJsonBody } from '../http/read-request.ts';
import { CribError } from '../model/crib-error.ts';
import { isObject } from '../model/json.ts';
import type { DoorReply } from './door-reply.ts';
import type { Visit } from './door-visit.ts';
import { LegacyDoor, type LegacyDoorInput } from './legacy-door.ts';
import { ModernDoor } from './modern-door.ts';
import { isModern } from './modern-head.ts';
import { idIn, refuse } from './refuse.ts';
import { DoorError, rpcCodes } from './rpc.ts';

/** Answers requests of callers who are known: the one path behind both ways in, the framework's and the lane. */
export interface DoorService {
  get(visit: Visit): void;
  delete(visit: Visit): void;
  /** `body` is undefined where it was not sent as JSON. */
  post(visit: Visit, body: string | undefined): void;
}

export function createDoorService(input: LegacyDoorInput): DoorService {
  const legacy = new LegacyDoor(input);
  const modern = new ModernDoor(input);

  function answer(reply: DoorReply, body: string | undefined, serve: () => void): void {
    try {
      serve();
    } catch (error) {
      refuse(reply, input.explain(error), idIn(body));
    }
  }

  return {
    get: (visit) => answer(visit.reply, undefined, () => legacy.get(visit)),
    delete: (visit) => answer(visit.reply, undefined, () => legacy.delete(visit)),
    post: (visit, body) =>
      answer(visit.reply, body, () => {
        const message = readBody(body);
        if (isObject(message) && isModern(message, visit.headers)) modern.post(visit, message);
        else legacy.post(visit, message);
      }),
  };
}

function readBody(body: string | undefined): unknown {
  if (body === undefined) throw new DoorError(rpcCodes.invalidRequest, 'Send a JSON-RPC message as application/json', { status: 400 });
  try {
    return parseJsonBody(body);
  } catch (error) {
    const message = error instanceof CribError ? error.message : 'The body is not valid JSON';
    throw new DoorError(rpcCodes.parse, message, { status: 400 });
  }
}

import { parseJsonBody } from '../http/read-request.ts';
import { CribError } from '../model/crib-error.ts';
import { isObject } from '../model/json.ts';
import type { DoorReply } from './door-reply.ts';
import type { Visit } from './door-visit.ts';
import { asDoorError, LegacyDoor, type LegacyDoorInput } from './legacy-door.ts';
import { ModernDoor } from './modern-door.ts';
import { isModern } from './modern-head.ts';
import { DoorError, errorText, rpcCodes } from './rpc.ts';

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

function answer(reply: DoorReply, body: string | undefined, serve: () => void): void {
  try {
    serve();
  } catch (error) {
    refuse(reply, error, body);
  }
}

/** Answers a request that was not dispatched. */
export function refuse(reply: DoorReply, error: unknown, body: string | undefined): void {
  const failure = asDoorError(error);
  reply.send(failure.status, errorText(idIn(body), failure));
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

/** The id of the request that was refused, where it can be read. */
function idIn(body: string | undefined): string | number | null {
  try {
    const message = body === undefined ? undefined : (JSON.parse(body) as unknown);
    const id = isObject(message) ? message['id'] : null;
    return typeof id === 'string' || typeof id === 'number' ? id : null;
  } catch {
    return null;
  }
}

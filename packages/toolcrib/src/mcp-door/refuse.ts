import { CribError } from '../model/crib-error.ts';
import { isObject, parsedJson } from '../model/json.ts';
import type { DoorReply } from './door-reply.ts';
import { DoorError, errorText, rpcCodes, type RpcId } from './rpc.ts';

/** Answers a request that was not dispatched. */
export function refuse(reply: DoorReply, error: unknown, id: RpcId | null): void {
  const failure = asDoorError(error);
  reply.send(failure.status, errorText(id, failure));
}

/** What is not an error of the protocol is a fault of ours, or a refusal in words. */
export function asDoorError(error: unknown): DoorError {
  if (error instanceof DoorError) return error;
  if (error instanceof CribError && error.code === 'VALIDATION_ERROR') return new DoorError(rpcCodes.invalidParams, error.message);
  const message = error instanceof Error ? error.message : 'Something failed inside Toolcrib';
  return new DoorError(rpcCodes.internal, message);
}

/** The id of the request, where it can be read. */
export function idIn(body: string | undefined): RpcId | null {
  const message = body === undefined ? undefined : parsedJson(body);
  const id = isObject(message) ? message['id'] : null;
  return isRpcId(id) ? id : null;
}

const longestId = 256;
export const idRule = `id must be a number, or a text of at most ${longestId} characters`;

export function isRpcId(id: unknown): id is RpcId {
  return typeof id === 'string' ? id.length <= longestId : Number.isFinite(id);
}

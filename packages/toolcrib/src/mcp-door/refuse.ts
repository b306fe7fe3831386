import type { Logger } from 'pino';
import { toCribError } from '../http/to-crib-error.ts';
import { isObject, parsedJson } from '../model/json.ts';
import type { DoorReply } from './door-reply.ts';
import { DoorError, errorText, rpcCodes, type RpcId } from './rpc.ts';

/** Answers a request that was not dispatched. */
export function refuse(reply: DoorReply, failure: DoorError, id: RpcId | null): void {
  reply.send(failure.status, errorText(id, failure));
}

/** Turns anything thrown while serving a request into the error for the client. */
export type ExplainError = (error: unknown) => DoorError;

/** What is neither an error of the protocol nor a refusal in words is a fault of ours: the log has it, and the client learns nothing of it. */
export function createExplainError(logger: Pick<Logger, 'error'>): ExplainError {
  return (error) => {
    if (error instanceof DoorError) return error;
    const refusal = toCribError(error);
    if (refusal?.code === 'VALIDATION_ERROR') return new DoorError(rpcCodes.invalidParams, refusal.message);
    if (refusal !== undefined) return new DoorError(rpcCodes.internal, refusal.message);
    logger.error({ err: error }, 'a request at the MCP door failed');
    return new DoorError(rpcCodes.internal, "Something failed inside Toolcrib; the server's log says more");
  };
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

import type { HttpOperation } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';

/** RFC 9110 §9.2.2: methods whose requests may be repeated, because the repetition changes nothing. */
const idempotentMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'QUERY']);
const keyHeader = /^(?:x-)?idempotency-key$/i;

/**
 * [POLL-2] The arguments of the first request, and whether it may be repeated after a crash. If the service takes an idempotency key and
 * the caller gave none, the key is the id of the call, which is the same after a crash.
 */
export function startRequest(operation: HttpOperation, args: JsonObject, callId: string): { args: JsonObject; repeatable: boolean } {
  const key = operation.parameters.find((parameter) => parameter.in === 'header' && keyHeader.test(parameter.name));
  if (key === undefined) return { args, repeatable: idempotentMethods.has(operation.method) };
  return { args: args[key.argument] === undefined ? { ...args, [key.argument]: callId } : args, repeatable: true };
}

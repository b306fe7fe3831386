import type { AdmittedCall, CallRequest } from '../execution/admission.ts';
import type { Executor } from '../execution/executor.ts';
import type { RunningCall } from '../execution/running-call.ts';
import type { Answer } from '../model/call.ts';
import { toCribError } from '../http/to-crib-error.ts';
import type { CribError } from '../model/crib-error.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { callResultText } from './call-result.ts';
import { modernVersion } from './door-caller.ts';
import type { DoorExchange } from './door-exchange.ts';
import { passOnEvents } from './pass-on-events.ts';
import { DoorError, rpcCodes } from './rpc.ts';

export interface ToolCall {
  name: string;
  arguments: JsonObject;
}

export function toolCallOf({ name, arguments: args = {} }: JsonObject): ToolCall {
  if (typeof name !== 'string' || name === '') throw new DoorError(rpcCodes.invalidParams, 'params.name must be the name of a tool');
  if (!isObject(args)) throw new DoorError(rpcCodes.invalidParams, 'params.arguments must be an object');
  return { name, arguments: args };
}

export function unknownTool(name: string): DoorError {
  return new DoorError(rpcCodes.invalidParams, `Unknown tool: ${name.slice(0, 200)}`);
}

/**
 * [DOOR-3] Admits a call on the one path of all calls, and has it run. A refusal is what a model can act on, so it is a result with `isError`;
 * only a tool that is unknown to this caller is an error of the protocol.
 */
export function admitCall(
  executor: Pick<Executor, 'admit'>,
  exchange: DoorExchange,
  tool: Tool,
  args: JsonObject,
  run: (admitted: AdmittedCall) => void,
): void {
  const { caller } = exchange;
  const request: CallRequest = { tool: tool.tool_id, arguments: args, via: { door: 'mcp', agent: caller.agent } };
  try {
    const admitted = executor.admit(caller.principal, request);
    if (admitted instanceof Promise) admitted.then(run).catch((error: unknown) => refuse(exchange, tool, error));
    else run(admitted);
  } catch (error) {
    refuse(exchange, tool, error);
  }
}

function refuse(exchange: DoorExchange, tool: Tool, error: unknown): void {
  const refusal = toCribError(error);
  if (refusal === undefined) exchange.failed(error);
  else if (refusal.code === 'NOT_FOUND') exchange.failed(unknownTool(tool.name));
  else exchange.answered(refusedText(refusal, exchange.caller.version === modernVersion));
}

function refusedText(refusal: CribError, modern: boolean): string {
  return JSON.stringify({
    ...(modern && { resultType: 'complete' }),
    content: [{ type: 'text', text: refusal.message }],
    isError: true,
    _meta: { 'toolcrib/error': refusal.toJSON() },
  });
}

/** [DOOR-5] Admits a request to a source beside a tool call. Whether the caller may make it was decided before. */
export async function admitRequest(
  executor: Pick<Executor, 'admitTrusted'>,
  { caller }: DoorExchange,
  request: Tool,
  args: JsonObject,
): Promise<AdmittedCall> {
  return executor.admitTrusted(caller.principal, request, { arguments: args, via: { door: 'mcp', agent: caller.agent } });
}

/** The result of a request to a source, or what went wrong as an error of the protocol. */
export function requestResult({ structured_content: result, error, metadata, text }: Answer): JsonObject {
  if (error === null && isObject(result)) return result;
  const failure = metadata['rpc_error'];
  const code = isObject(failure) && typeof failure['code'] === 'number' ? failure['code'] : rpcCodes.internal;
  const data = isObject(failure) ? failure['data'] : undefined;
  throw new DoorError(code, error?.message ?? (text || 'The answer is too large'), { ...(data !== undefined && { data }) });
}

/** Calls a tool for a client that can be asked while it waits. */
export function callTool(executor: Executor, exchange: DoorExchange, tool: Tool, args: JsonObject): void {
  admitCall(executor, exchange, tool, args, (admitted) => {
    const { call } = admitted;
    follow(call, exchange);
    executor.start(admitted, {
      answered: (answer) => exchange.answered(callResultText(answer, exchange.caller.version, call.rawText)),
      failed: (error) => exchange.failed(error),
    });
  });
}

/** The same for another request to a source. */
export async function askSource(executor: Executor, exchange: DoorExchange, request: Tool, args: JsonObject): Promise<JsonObject> {
  const admitted = await admitRequest(executor, exchange, request, args);
  follow(admitted.call, exchange);
  return requestResult(await executor.run(admitted));
}

function follow(call: RunningCall, exchange: DoorExchange): void {
  passOnEvents(call, exchange);
  exchange.onGone(() => call.end('cancelled'));
}

import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** JSON-RPC's "internal error". */
const internalError = -32603;

/** Why a value is no JSON-RPC 2.0 message as MCP uses them, or null where it is one. By hand, because every message passes here. */
export function problemOf(value: unknown): string | null {
  if (!isObject(value)) return 'it is not an object';
  if (value.jsonrpc !== '2.0') return '`jsonrpc` is not "2.0"';
  if (value.id !== undefined && !isId(value.id)) return '`id` is neither a string nor a whole number';
  if (value.method !== undefined) return problemOfRequest(value);
  if (value.id === undefined) return 'it has neither `method` nor `id`';
  if (value.error === undefined) return isObject(value.result) ? null : '`result` is not an object';
  if (value.result !== undefined) return 'it has both `result` and `error`';
  if (!isObject(value.error)) return '`error` is not an object';
  if (!Number.isSafeInteger(value.error.code)) return '`error.code` is not a whole number';
  return typeof value.error.message === 'string' ? null : '`error.message` is not a string';
}

/** The request that an answer is for, even where the rest of it is wrong. */
export function answeredId(value: unknown): string | number | null {
  return isObject(value) && value.method === undefined && isId(value.id) ? value.id : null;
}

const standIns = new WeakSet<object>();

/** [ERR-9] Stands for an answer that was none, so that the one who waits for it hears at once and not at the deadline. */
export function invalidAnswer(id: string | number, problem: string): JSONRPCMessage {
  const message = `The server sent an invalid MCP message: ${problem}`;
  const standIn: JSONRPCMessage = { jsonrpc: '2.0', id, error: { code: internalError, message } };
  standIns.add(standIn);
  return standIn;
}

/** Whether an error answer is ours, and not the server's own. */
export function isStandIn(message: object): boolean {
  return standIns.has(message);
}

function problemOfRequest(value: Record<string, unknown>): string | null {
  if (typeof value.method !== 'string') return '`method` is not a string';
  return value.params === undefined || isObject(value.params) ? null : '`params` is not an object';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

import type { Json, JsonObject } from '../model/json.ts';

export type RpcId = string | number;

/** The codes of JSON-RPC 2.0 and of MCP. */
export const rpcCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** Of MCP's HTTP transport: the request is not one that this address takes. */
  badRequest: -32_000,
  sessionNotFound: -32_001,
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
} as const;

/** Answers a request with an error of the protocol. A failed tool is a result. */
export class DoorError extends Error {
  readonly code: number;
  readonly data: Json | undefined;
  /** Of the HTTP answer, where the request is refused before it is dispatched. */
  readonly status: number;

  constructor(code: number, message: string, { data, status = 200 }: { data?: Json; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

export function resultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

export function errorText(id: RpcId | null, { code, message, data }: DoorError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
}

export function notificationText(method: string, params: JsonObject | undefined): string {
  return JSON.stringify({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) });
}

import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type Json, type JsonObject } from '../model/json.ts';
import { modernVersion } from './door-caller.ts';
import { DoorError, rpcCodes } from './rpc.ts';

const prefix = 'io.modelcontextprotocol/';
export const metaKeys = {
  version: `${prefix}protocolVersion`,
  client: `${prefix}clientInfo`,
  capabilities: `${prefix}clientCapabilities`,
  logLevel: `${prefix}logLevel`,
  server: `${prefix}serverInfo`,
  subscription: `${prefix}subscriptionId`,
} as const;

/** Where each method says what it is about, which a header repeats for proxies. */
const nameFields = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

function metaOf(params: unknown): JsonObject | undefined {
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? meta : undefined;
}

/** [DOOR-2] Whether a message is of the stateless revision: it says so itself, or its header does. */
export function isModern(message: JsonObject, headers: IncomingHttpHeaders): boolean {
  const meta = metaOf(message['params']);
  const named = headers['mcp-protocol-version'];
  if (meta !== undefined && metaKeys.version in meta) return true;
  // Revisions are dates.
  return typeof named === 'string' && /^\d{4}-\d\d-\d\d$/.test(named) && named >= modernVersion;
}

/** What a request says of itself, checked against its headers. */
export function readModernHead(method: string, params: JsonObject, headers: IncomingHttpHeaders): JsonObject {
  const meta = metaOf(params) ?? {};
  if (!(metaKeys.version in meta && metaKeys.capabilities in meta)) {
    const missing = [metaKeys.version, metaKeys.capabilities].filter((key) => !(key in meta));
    const message = `Invalid params: _meta lacks ${missing.join(' and ')}`;
    throw new DoorError(rpcCodes.invalidParams, message, { status: 400, data: { envelope: { missing } } });
  }
  const { [metaKeys.version]: claimed, [metaKeys.capabilities]: capabilities, [metaKeys.client]: client } = meta;
  if (typeof claimed !== 'string') throw wrongEnvelope(metaKeys.version, 'must be a text');
  if (!isObject(capabilities)) throw wrongEnvelope(metaKeys.capabilities, 'must be an object');
  if (client !== undefined && !isObject(client)) throw wrongEnvelope(metaKeys.client, 'must be an object');
  const named = headers['mcp-protocol-version'];
  if (named !== undefined && String(named).trim() !== claimed) throw mismatch('MCP-Protocol-Version', named, `_meta names ${claimed}`);
  if (claimed !== modernVersion) {
    const data = { supported: [modernVersion], requested: claimed };
    throw new DoorError(rpcCodes.unsupportedVersion, `Unsupported protocol version: ${claimed.slice(0, 40)}`, { status: 400, data });
  }
  if (named === undefined) throw mismatch('MCP-Protocol-Version', undefined, `_meta names ${claimed}`);
  checkMethod(method, headers['mcp-method']);
  checkName(method, params, headers['mcp-name']);
  return meta;
}

function checkMethod(method: string, header: string | string[] | undefined): void {
  if (header === undefined || String(header).trim() !== method) throw mismatch('Mcp-Method', header, `the body names ${method}`);
}

function checkName(method: string, params: JsonObject, header: string | string[] | undefined): void {
  const field = nameFields.get(method);
  const value = field === undefined ? undefined : params[field];
  if (field === undefined || (header === undefined && typeof value !== 'string')) return;
  const decoded = header === undefined ? undefined : decodedHeader(String(header).trim());
  if (typeof value === 'string' && decoded !== value)
    throw mismatch('Mcp-Name', header, `the body has params.${field} ${JSON.stringify(value.slice(0, 200))}`);
}

/** Values that a header cannot carry come as `=?base64?…?=`. Undefined where that is not well-formed. */
function decodedHeader(value: string): string | undefined {
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  const encoded = value.slice('=?base64?'.length, -2);
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}

function mismatch(header: string, value: string | string[] | undefined, body: string): DoorError {
  const given = value === undefined ? 'is missing' : `is ${JSON.stringify(String(value).slice(0, 200))}`;
  const data: Json = { mismatch: { header, body } };
  return new DoorError(rpcCodes.headerMismatch, `Header mismatch: ${header} ${given}, but ${body}`, { status: 400, data });
}

function wrongEnvelope(key: string, problem: string): DoorError {
  return new DoorError(rpcCodes.invalidParams, `Invalid params: ${key} in _meta ${problem}`, {
    status: 400,
    data: { envelope: { key, problem } },
  });
}

import { isObject, type JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { version } from '../version.ts';
import { parseArtifactUri } from './artifact-uri.ts';
import { toolCallOf, unknownTool } from './call-tool.ts';
import { modernVersion, type DoorCaller } from './door-caller.ts';
import type { DoorExchange } from './door-exchange.ts';
import type { DoorParts } from './door-parts.ts';
import { createDoorTools, type DoorTools } from './door-tools.ts';
import { createFindingTools } from './finding-tools.ts';
import { DoorError, rpcCodes } from './rpc.ts';

/** Calls a tool in the way of one era. Resolves with the result as JSON. */
export type CallTool = (exchange: DoorExchange, tool: Tool, args: JsonObject, params: JsonObject) => Promise<string>;

/** What both eras have in common: the methods, with the fields that each of them wants. Results are JSON. */
export interface DoorMethods {
  /** Throws `DoorError` where there is no such method. */
  dispatch(method: string, params: JsonObject, exchange: DoorExchange): Promise<string>;
  toolsOf(caller: DoorCaller): DoorTools;
}

export const serverInfo = { name: 'toolcrib', title: 'Toolcrib', version };
export const capabilities = { tools: { listChanged: true }, resources: {}, logging: {} };

/** How long a client may keep a list, and for whom: what one caller may use is nobody else's business. */
export const cacheHints = { ttlMs: 60_000, cacheScope: 'private' } as const;

export function createDoorMethods(parts: DoorParts, callTool: CallTool): DoorMethods {
  const doorTools = createDoorTools(parts.inventory);
  const toolsOf = ({ principal, address }: DoorCaller) => doorTools(principal, address);
  const finding = createFindingTools(parts, toolsOf);

  async function call(exchange: DoorExchange, params: JsonObject): Promise<string> {
    const asked = toolCallOf(params);
    const { caller } = exchange;
    if (caller.address.mode === 'search') {
      const found = finding.answer(caller, asked);
      if (typeof found === 'string') return found;
      return callTool(exchange, found.tool, found.arguments, params);
    }
    const tool = toolsOf(caller).find(asked.name);
    if (tool === undefined) throw unknownTool(asked.name);
    return callTool(exchange, tool, asked.arguments, params);
  }

  async function read({ caller }: DoorExchange, { uri }: JsonObject): Promise<string> {
    if (typeof uri !== 'string') throw new DoorError(rpcCodes.invalidParams, 'params.uri must be the address of a resource');
    const part = parseArtifactUri(uri);
    const artifact = part && (await parts.artifacts.find(caller.principal, part.callId, part.n));
    if (artifact === undefined) throw unknownResource(uri, caller.version);
    const { mime_type: mimeType, data } = artifact;
    const bytes = Buffer.from(data);
    const content = /^text\/|\bjson\b/.test(mimeType) ? { text: bytes.toString('utf8') } : { blob: bytes.toString('base64') };
    return JSON.stringify({ ...fieldsOf(caller, { ...cacheHints, ttlMs: 0 }), contents: [{ uri, mimeType, ...content }] });
  }

  return {
    toolsOf,
    async dispatch(method, params, exchange) {
      const { caller } = exchange;
      const modern = caller.version === modernVersion;
      switch (method) {
        case 'tools/list': {
          const page = caller.address.mode === 'search' ? finding.page(modern) : toolsOf(caller).page(cursorOf(params), modern);
          return `{${modern ? `${JSON.stringify(fieldsOf(caller, cacheHints)).slice(1, -1)},` : ''}${page}}`;
        }
        case 'tools/call':
          return call(exchange, params);
        case 'resources/list':
          return JSON.stringify({ ...fieldsOf(caller, cacheHints), resources: [] });
        case 'resources/templates/list':
          return JSON.stringify({ ...fieldsOf(caller, cacheHints), resourceTemplates: [] });
        case 'resources/read':
          return read(exchange, params);
        default:
          throw new DoorError(rpcCodes.methodNotFound, `Method not found: ${method.slice(0, 100)}`);
      }
    },
  };
}

/** Of every result of the stateless revision. */
function fieldsOf({ version: spoken }: DoorCaller, hints: JsonObject): JsonObject {
  return spoken === modernVersion ? { resultType: 'complete', ...hints } : {};
}

function cursorOf({ cursor }: JsonObject): string | undefined {
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw new DoorError(rpcCodes.invalidParams, 'params.cursor must be a text');
}

/** [DOOR-7] Also for one that is there for others. */
function unknownResource(uri: string, spoken: string): DoorError {
  const code = spoken === modernVersion ? rpcCodes.invalidParams : -32_002;
  return new DoorError(code, 'Resource not found', { data: { uri: uri.slice(0, 2000) } });
}

export function paramsOf(params: unknown): JsonObject {
  if (params === undefined) return {};
  if (isObject(params)) return params;
  throw new DoorError(rpcCodes.invalidParams, 'params must be an object');
}

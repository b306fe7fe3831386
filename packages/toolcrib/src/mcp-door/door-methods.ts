import { isObject, type JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { version } from '../version.ts';
import { toolCallOf, unknownTool } from './call-tool.ts';
import { modernVersion, type DoorCaller } from './door-caller.ts';
import type { DoorExchange } from './door-exchange.ts';
import type { DoorParts } from './door-parts.ts';
import { createDoorTools, type DoorTools } from './door-tools.ts';
import { createFindingTools } from './finding-tools.ts';
import { followLists, type DoorList } from './follow-lists.ts';
import { cacheHints, fieldsOf, OfferMethods, type AskSource } from './offer-methods.ts';
import { DoorError, rpcCodes } from './rpc.ts';
import { Subscriptions } from './subscriptions.ts';

/** Calls a tool in the way of one era. Resolves with the result as JSON. */
export type CallTool = (exchange: DoorExchange, tool: Tool, args: JsonObject, params: JsonObject) => Promise<string>;

/** What both eras have in common: the methods, with the fields that each of them wants. Results are JSON. */
export interface DoorMethods {
  /** Throws `DoorError` where there is no such method. */
  dispatch(method: string, params: JsonObject, exchange: DoorExchange): Promise<string>;
  toolsOf(caller: DoorCaller): DoorTools;
  /** Tells when a list of the caller has changed, until the returned function is called. */
  follow(caller: () => DoorCaller, changed: (list: DoorList) => void): () => void;
  subscriptions(caller: () => DoorCaller, updated: (uri: string) => void): Subscriptions;
}

export const serverInfo = { name: 'toolcrib', title: 'Toolcrib', version };
export const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

export function createDoorMethods(parts: DoorParts, callTool: CallTool, askSource: AskSource): DoorMethods {
  const doorTools = createDoorTools(parts.inventory);
  const toolsOf = ({ principal, address }: DoorCaller) => doorTools(principal, address);
  const finding = createFindingTools(parts, toolsOf);
  const offers = new OfferMethods(parts, askSource, toolsOf);

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

  const pageOf = (caller: DoorCaller) =>
    caller.address.mode === 'search' ? '' : toolsOf(caller).page(undefined, caller.version === modernVersion);

  return {
    toolsOf,
    follow: (caller, changed) => followLists({ parts, toolsOf: () => toolsOf(caller()), pageOf: () => pageOf(caller()), changed }),
    subscriptions: (caller, updated) => new Subscriptions({ parts, offers, toolsOf, caller, updated }),
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
        default: {
          const answer = await offers.dispatch(method, params, exchange);
          if (answer !== undefined) return answer;
          throw new DoorError(rpcCodes.methodNotFound, `Method not found: ${method.slice(0, 100)}`);
        }
      }
    },
  };
}

function cursorOf({ cursor }: JsonObject): string | undefined {
  if (cursor === undefined || typeof cursor === 'string') return cursor;
  throw new DoorError(rpcCodes.invalidParams, 'params.cursor must be a text');
}

export function paramsOf(params: unknown): JsonObject {
  if (params === undefined) return {};
  if (isObject(params)) return params;
  throw new DoorError(rpcCodes.invalidParams, 'params must be an object');
}

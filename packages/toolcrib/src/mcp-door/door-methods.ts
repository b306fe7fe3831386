import { isObject, type JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { version } from '../version.ts';
import { toolCallOf, unknownTool } from './call-tool.ts';
import { modernVersion, type DoorCaller } from './door-caller.ts';
import { answerWith, type DoorExchange } from './door-exchange.ts';
import type { DoorParts } from './door-parts.ts';
import { createDoorTools, type DoorTools } from './door-tools.ts';
import { createFindingTools } from './finding-tools.ts';
import { followLists, type DoorList } from './follow-lists.ts';
import { cacheHints, OfferMethods, type AskSource } from './offer-methods.ts';
import { DoorError, rpcCodes } from './rpc.ts';
import { Subscriptions } from './subscriptions.ts';

/** Calls a tool in the way of one era. */
export type CallTool = (exchange: DoorExchange, tool: Tool, args: JsonObject, params: JsonObject) => void;

/** What both eras have in common: the methods, with the fields that each of them wants. */
export interface DoorMethods {
  /** Answers the exchange, now or later. Whatever it throws is an answer, too. */
  dispatch(method: string, params: JsonObject, exchange: DoorExchange): void;
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

const modernListFields = `${JSON.stringify({ resultType: 'complete', ...cacheHints }).slice(1, -1)},`;

export function createDoorMethods(parts: DoorParts, callTool: CallTool, askSource: AskSource): DoorMethods {
  const doorTools = createDoorTools(parts.inventory);
  const toolsOf = ({ principal, address }: DoorCaller) => doorTools(principal, address);
  const finding = createFindingTools(parts, toolsOf);
  const offers = new OfferMethods(parts, askSource, toolsOf);

  function call(exchange: DoorExchange, params: JsonObject): void {
    const asked = toolCallOf(params);
    const { caller } = exchange;
    if (caller.address.mode === 'search') {
      const found = finding.answer(caller, asked);
      if (typeof found === 'string') return exchange.answered(found);
      return callTool(exchange, found.tool, found.arguments, params);
    }
    const tool = toolsOf(caller).find(asked.name);
    if (tool === undefined) throw unknownTool(asked.name);
    callTool(exchange, tool, asked.arguments, params);
  }

  async function offer(method: string, params: JsonObject, exchange: DoorExchange): Promise<string> {
    const answer = await offers.dispatch(method, params, exchange);
    if (answer !== undefined) return answer;
    throw new DoorError(rpcCodes.methodNotFound, `Method not found: ${method.slice(0, 100)}`);
  }

  const pageOf = (caller: DoorCaller) =>
    caller.address.mode === 'search' ? '' : toolsOf(caller).page(undefined, caller.version === modernVersion);

  return {
    toolsOf,
    follow: (caller, changed) => followLists({ parts, toolsOf: () => toolsOf(caller()), pageOf: () => pageOf(caller()), changed }),
    subscriptions: (caller, updated) => new Subscriptions({ parts, offers, toolsOf, caller, updated }),
    dispatch(method, params, exchange) {
      const { caller } = exchange;
      const modern = caller.version === modernVersion;
      switch (method) {
        case 'tools/list': {
          const page = caller.address.mode === 'search' ? finding.page(modern) : toolsOf(caller).page(cursorOf(params), modern);
          return exchange.answered(`{${modern ? modernListFields : ''}${page}}`);
        }
        case 'tools/call':
          return call(exchange, params);
        default:
          return answerWith(exchange, offer(method, params, exchange));
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

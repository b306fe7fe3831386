import { compactTool } from '../inventory/compact-tool.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import type { ToolCall } from './call-tool.ts';
import { unknownTool } from './call-tool.ts';
import { modernVersion, type DoorCaller } from './door-caller.ts';
import type { DoorParts } from './door-parts.ts';
import { toolEntry, type DoorTools } from './door-tools.ts';
import { DoorError, rpcCodes } from './rpc.ts';

const usualLimit = 10;
const mostFound = 100;

export const findingToolDefinitions: readonly JsonObject[] = [
  {
    name: 'search_tools',
    description: 'Finds tools by what they do. Returns names with one line each; describe_tool has the details.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in a few words' },
        limit: { type: 'integer', minimum: 1, maximum: mostFound, default: usualLimit },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'describe_tool',
    description: 'The description and the input schema of a tool.',
    inputSchema: { type: 'object', properties: { name: { type: 'string', description: 'As search_tools gives it' } }, required: ['name'] },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'call_tool',
    description: 'Calls a tool with arguments that fit its input schema.',
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string', description: 'As search_tools gives it' }, arguments: { type: 'object' } },
      required: ['name'],
    },
  },
];

/** [DOOR-6] Three tools in place of hundreds, for models whose context the whole list would fill. */
export interface FindingTools {
  page(modern: boolean): string;
  /** A result as JSON, or the call that is to be made. */
  answer(caller: DoorCaller, call: ToolCall): string | { tool: Tool; arguments: JsonObject };
}

export function createFindingTools(
  { inventory, requestRate }: Pick<DoorParts, 'inventory' | 'requestRate'>,
  toolsOf: (caller: DoorCaller) => DoorTools,
): FindingTools {
  function search(caller: DoorCaller, { query, limit = usualLimit }: JsonObject): string {
    if (typeof query !== 'string') throw new DoorError(rpcCodes.invalidParams, 'arguments.query must be a text');
    const most = typeof limit === 'number' && limit >= 1 ? Math.min(Math.floor(limit), mostFound) : usualLimit;
    requestRate(caller.principal);
    const here = toolsOf(caller);
    const atAddress = new Set(here.tools);
    const found = inventory.search(inventory.accessOf(caller.principal), query).filter((tool) => atAddress.has(tool));
    const shown = found.slice(0, most).map((tool) => {
      const { description, parameters } = compactTool(tool);
      return { name: here.nameOf(tool), description, parameters };
    });
    return resultOf(caller, { tools: shown, total: found.length });
  }

  return {
    page: () => `"tools":${JSON.stringify(findingToolDefinitions)}`,
    answer(caller, { name, arguments: args }) {
      if (name === 'search_tools') return search(caller, args);
      if (name !== 'describe_tool' && name !== 'call_tool') throw unknownTool(name);
      const { name: wanted } = args;
      if (typeof wanted !== 'string') throw new DoorError(rpcCodes.invalidParams, 'arguments.name must be the name of a tool');
      const tool = toolsOf(caller).find(wanted);
      if (tool === undefined) throw unknownTool(wanted);
      if (name === 'describe_tool') return resultOf(caller, toolEntry(wanted, tool, caller.version === modernVersion));
      const inner = args['arguments'] ?? {};
      if (!isObject(inner)) throw new DoorError(rpcCodes.invalidParams, 'arguments.arguments must be an object');
      return { tool, arguments: inner };
    },
  };
}

function resultOf({ version }: DoorCaller, found: JsonObject | object): string {
  const text = JSON.stringify(found);
  return JSON.stringify({
    ...(version === modernVersion && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    structuredContent: found,
  });
}

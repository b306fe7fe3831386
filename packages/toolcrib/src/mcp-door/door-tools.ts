import { decodeCursor, encodeCursor } from '../http/page-cursor.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { modelName } from '../inventory/model-name.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { Tool } from '../model/tool.ts';
import type { DoorAddress } from './door-address.ts';

/** Clients put the name of the server and a prefix of their own before it, and allow 64 characters in all. */
export const longestName = 46;
/** Some clients read the first page only. */
const toolsPerPage = 1000;

/** The tools that one caller may use at one address. */
export interface DoorTools {
  readonly tools: readonly Tool[];
  nameOf(tool: Tool): string;
  find(name: string): Tool | undefined;
  /** One page of the list as JSON without its braces. */
  page(cursor: string | undefined, modern: boolean): string;
}

/** [DOOR-6] The lists of all addresses. What was made for one list of tools serves everybody who has the same. */
export function createDoorTools(
  inventory: Pick<Inventory, 'accessOf' | 'rules'>,
): (principal: Principal, address: DoorAddress) => DoorTools {
  const kept = new WeakMap<readonly Tool[], Map<string, { belongs: unknown; tools: DoorTools }>>();
  return (principal, { group, names }) => {
    const all = inventory.accessOf(principal).tools;
    // A group that the caller gets nothing from and one that does not exist look alike.
    const belongs = group === undefined ? () => true : (inventory.rules.groups.get(group) ?? (() => false));
    const key = group === undefined ? names : `${names} ${group}`;
    const found = kept.get(all)?.get(key);
    if (found !== undefined && (group === undefined || found.belongs === inventory.rules.groups.get(group))) return found.tools;
    const tools = new ToolsAtAddress(group === undefined ? all : all.filter(belongs), names === 'own');
    const lists = kept.get(all) ?? new Map<string, { belongs: unknown; tools: DoorTools }>();
    kept.set(all, lists.set(key, { belongs: group === undefined ? undefined : inventory.rules.groups.get(group), tools }));
    return tools;
  };
}

class ToolsAtAddress implements DoorTools {
  readonly tools: readonly Tool[];
  readonly #byName = new Map<string, Tool>();
  readonly #names = new Map<Tool, string>();
  readonly #pages = new Map<string, string>();

  constructor(tools: readonly Tool[], keepsOwnNames: boolean) {
    this.tools = tools;
    const ownNames = keepsOwnNames ? uniqueOwnNames(tools) : new Set<string>();
    for (const tool of tools) {
      const own = ownName(tool);
      const name = ownNames.has(own) ? own : modelName(tool.namespace, own, longestName);
      this.#byName.set(name, tool);
      this.#names.set(tool, name);
    }
  }

  nameOf(tool: Tool): string {
    return this.#names.get(tool) ?? tool.model_name;
  }

  find(name: string): Tool | undefined {
    return this.#byName.get(name);
  }

  page(cursor: string | undefined, modern: boolean): string {
    const key = `${modern} ${cursor ?? ''}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const after = decodeCursor(cursor, 'string');
    const rest = after === undefined ? this.tools : this.tools.filter(({ name }) => name > after);
    const shown = rest.slice(0, toolsPerPage);
    const entries = shown.map((tool) => JSON.stringify(toolEntry(this.nameOf(tool), tool, modern)));
    const next = rest.length > shown.length ? `,"nextCursor":${JSON.stringify(encodeCursor(shown.at(-1)?.name ?? ''))}` : '';
    const page = `"tools":[${entries.join(',')}]${next}`;
    this.#pages.set(key, page);
    return page;
  }
}

/** As shown: an administrator may have renamed it. */
function ownName({ name, namespace }: Tool): string {
  return name.slice(namespace.length + 1);
}

function uniqueOwnNames(tools: readonly Tool[]): Set<string> {
  const seen = new Map<string, number>();
  for (const tool of tools) seen.set(ownName(tool), (seen.get(ownName(tool)) ?? 0) + 1);
  return new Set([...seen].flatMap(([name, count]) => (count === 1 ? [name] : [])));
}

/** A tool in MCP's form. */
export function toolEntry(name: string, tool: Tool, modern: boolean): JsonObject {
  const { title, annotations, input_schema: input, output_schema: output } = tool.definition;
  return {
    name,
    ...(title !== undefined && { title }),
    description: tool.description,
    inputSchema: input['type'] === 'object' ? input : { ...input, type: 'object' },
    // Before 2026-07-28, the root of an output schema was an object.
    ...(output !== undefined && (modern || output['type'] === 'object') && { outputSchema: output }),
    ...(isObject(annotations) && { annotations }),
  };
}

import { METHOD_NOT_FOUND } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import type { ParamHeader } from './param-headers.ts';
import { listPages, type ListLimits } from './list-pages.ts';
import { readResource, readResourceTemplate } from './resource-tools.ts';
import { RpcError } from './session-errors.ts';
import { readTool, type SkippedTool } from './tool-definition.ts';

interface CatalogueInput {
  /** One page of a list. */
  fetchPage(method: string, params: JsonObject): Promise<JsonObject>;
  /** Which lists the server has; asking for one it does not have is an error with some servers. */
  offers: { tools: boolean; resources: boolean };
  version: string;
  perHttpHeaders: boolean;
  limits: ListLimits;
}

/** What a server offers, and how what it offers is called. */
export interface Catalogue {
  tools: DiscoveredTool[];
  skipped: SkippedTool[];
  /** Of tools that have some. */
  headers: Map<string, readonly ParamHeader[]>;
  /** Of tools that are resources. */
  uris: Map<string, (args: JsonObject) => string>;
}

export async function readCatalogue(input: CatalogueInput, resources: boolean): Promise<Catalogue> {
  const { offers, version, limits } = input;
  const tools = new Map<string, DiscoveredTool>();
  const catalogue: Catalogue = { tools: [], skipped: [], headers: new Map(), uris: new Map() };

  function add(found: { tool: DiscoveredTool } | { skipped: SkippedTool }): boolean {
    if ('skipped' in found) {
      catalogue.skipped.push(found.skipped);
      return false;
    }
    const { name } = found.tool.definition;
    if (tools.has(name)) {
      catalogue.skipped.push({ name, reason: 'Another tool of the server has the same name' });
      return false;
    }
    tools.set(name, found.tool);
    return true;
  }

  const list = (method: string, key: string): Promise<Json[]> =>
    listPages(
      (params) => input.fetchPage(method, params),
      key,
      limits,
      (skipped) => catalogue.skipped.push(skipped),
    );

  if (offers.tools) {
    for (const entry of await list('tools/list', 'tools')) {
      const found = readTool(entry, version, input.perHttpHeaders);
      if (add(found) && 'tool' in found && found.headers.length > 0) catalogue.headers.set(found.tool.definition.name, found.headers);
    }
  }
  if (resources && offers.resources) {
    const plain = (await list('resources/list', 'resources')).map((entry) => readResource(entry, version));
    // Servers with resources often have no templates, and say so with an error.
    const templateEntries = await list('resources/templates/list', 'resourceTemplates').catch(nothingIfUnknown);
    const templates = templateEntries.map((entry) => readResourceTemplate(entry, version));
    for (const found of [...plain, ...templates]) {
      if (add(found) && 'tool' in found) catalogue.uris.set(found.tool.definition.name, found.uriFor);
    }
  }
  catalogue.tools = [...tools.values()];
  return catalogue;
}

function nothingIfUnknown(error: unknown): Json[] {
  if (error instanceof RpcError && error.rpcCode === METHOD_NOT_FOUND) return [];
  throw error;
}

import { METHOD_NOT_FOUND } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import type { ParamHeader } from './param-headers.ts';
import { listPages, type ListLimits } from './list-pages.ts';
import { readResource, readResourceTemplate } from './resource-tools.ts';
import type { Exchange } from './exchange.ts';
import type { Requests } from './requests.ts';
import { RpcError } from './session-errors.ts';
import { readTool, type SkippedTool } from './tool-definition.ts';

interface CatalogueInput {
  requests: Requests;
  /** Which lists the server has; some servers answer a request for any other with an error. */
  offers: { tools: boolean; resources: boolean };
  version: string;
  /** Whether parameters may have to be repeated in headers. */
  perHttpHeaders: boolean;
  limits: ListLimits;
}

/** What a server offers, and what is needed to call it. */
export interface Catalogue {
  tools: DiscoveredTool[];
  skipped: SkippedTool[];
  /** The headers that repeat parameters, by tool; only tools that have some. */
  headers: Map<string, readonly ParamHeader[]>;
  /** The URI of each tool that is a resource, from its arguments. */
  uris: Map<string, (args: JsonObject) => string>;
}

/** The catalogue of one server as it was last read. */
export class KnownCatalogue {
  current: Catalogue | undefined;
  /** Whether resources are in it. */
  withResources = false;
  readonly #input: CatalogueInput;

  constructor(input: CatalogueInput) {
    this.#input = input;
  }

  /** The known catalogue. It is read now if there is none, or if it lacks the resources that are wanted. */
  async get(resources: boolean, exchange: Exchange): Promise<Catalogue> {
    if (this.current !== undefined && (this.withResources || !resources)) return this.current;
    return this.readAnew(resources, exchange);
  }

  /** A catalogue with resources keeps them. */
  readAnew(resources: boolean, exchange: Exchange): Promise<Catalogue> {
    return this.read(resources || this.withResources, () => exchange);
  }

  async read(resources: boolean, exchangeForPage: () => Exchange): Promise<Catalogue> {
    const { requests } = this.#input;
    const fetchPage: FetchPage = (method, params) => requests.send(method, params, exchangeForPage());
    this.current = await readCatalogue(this.#input, resources, fetchPage);
    this.withResources = resources;
    return this.current;
  }
}

/** One page of a list. */
type FetchPage = (method: string, params: JsonObject) => Promise<JsonObject>;

async function readCatalogue(input: CatalogueInput, resources: boolean, fetchPage: FetchPage): Promise<Catalogue> {
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
      (params) => fetchPage(method, params),
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

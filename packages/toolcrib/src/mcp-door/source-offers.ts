import { modelName } from '../inventory/model-name.ts';
import { EndSwitch } from '../model/end-signal.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { Tool } from '../model/tool.ts';
import type { DoorCaller } from './door-caller.ts';
import type { DoorParts } from './door-parts.ts';
import type { DoorTools } from './door-tools.ts';
import { longestName } from './door-tools.ts';
import { sourceRequest } from './source-request.ts';

const freshMs = 30_000;
/** A source that is slow to list what it offers is left out of this list. */
const patienceMs = 5000;
const mostKept = 2000;

const lists = {
  resources: { method: 'resources/list', field: 'resources', id: 'uri' },
  templates: { method: 'resources/templates/list', field: 'resourceTemplates', id: 'uriTemplate' },
  prompts: { method: 'prompts/list', field: 'prompts', id: 'name' },
} as const;
export type OfferKind = keyof typeof lists;
/** What sources say has changed. */
export type OffersList = 'resources' | 'prompts';

/** Something that a source offers beside tools. */
export interface Offer {
  /** As its source names it. */
  id: string;
  /** As this address names it. */
  shown: string;
  /** A tool of the same source that the caller may use. */
  like: Tool;
  entry: JsonObject;
}

/**
 * [DOOR-5] Resources, templates and prompts of the sources of which the caller may use a tool. They are asked as the caller, and remembered
 * for a moment.
 */
export class SourceOffers {
  readonly #parts: DoorParts;
  /** By source, how often it has said that its lists have changed. */
  readonly #changes = new Map<string, number>();
  readonly #kept = new RecentMap<{ until: number; entries: Promise<JsonObject[]> }>(mostKept);

  constructor(parts: DoorParts) {
    this.#parts = parts;
    // As long as the server lives.
    parts.supervisor.onOffersChanged((sourceId) => this.#changes.set(sourceId, (this.#changes.get(sourceId) ?? 0) + 1));
  }

  async of(kind: OfferKind, { principal, address }: DoorCaller, { tools }: DoorTools): Promise<Offer[]> {
    const { id } = lists[kind];
    const found = await Promise.all(
      sourcesOf(tools).map(async (like) => {
        const entries = await this.#entriesOf(kind, principal, like);
        return entries.flatMap((entry) => (typeof entry[id] === 'string' ? [{ id: entry[id], shown: '', like, entry }] : []));
      }),
    );
    const offers: Offer[] = found.flat();
    const counts = Map.groupBy(offers, (offer) => offer.id);
    for (const offer of offers) {
      const isOwn = address.names === 'own' && counts.get(offer.id)?.length === 1;
      offer.shown = isOwn ? offer.id : shownAs(kind, offer.like.namespace, offer.id);
    }
    return offers;
  }

  #entriesOf(kind: OfferKind, principal: Principal, like: Tool): Promise<JsonObject[]> {
    const key = `${kind} ${like.source_id} ${this.#changes.get(like.source_id) ?? 0} ${principal.key}`;
    const known = this.#kept.get(key);
    if (known !== undefined && known.until > Date.now()) return known.entries;
    const entries = this.#read(kind, principal, like).catch(() => {
      // It is asked again for the next list.
      this.#kept.delete(key);
      return [];
    });
    this.#kept.set(key, { until: Date.now() + freshMs, entries });
    return entries;
  }

  async #read(kind: OfferKind, principal: Principal, like: Tool): Promise<JsonObject[]> {
    const { method, field } = lists[kind];
    const signal = new EndSwitch();
    const timer = setTimeout(() => signal.end(new Error('The list took too long')), patienceMs);
    try {
      const context = { callId: method, principal, signal, progress() {}, log() {}, elicit: () => Promise.resolve({ action: 'decline' }) };
      const output = await this.#parts.supervisor.sourceOf(like.source_id)?.call(sourceRequest(method, like), {}, context);
      const found = isObject(output?.structured_content) ? output.structured_content[field] : undefined;
      return Array.isArray(found) ? found.filter(isObject) : [];
    } finally {
      clearTimeout(timer);
    }
  }
}

/** One tool for each MCP server among them. */
export function sourcesOf(tools: readonly Tool[]): Tool[] {
  const bySource = new Map<string, Tool>();
  for (const tool of tools) if (tool.execution_mode === 'mcp_call' && !bySource.has(tool.source_id)) bySource.set(tool.source_id, tool);
  return [...bySource.values()];
}

function shownAs(kind: OfferKind, namespace: string, id: string): string {
  return kind === 'prompts' ? modelName(namespace, id, longestName) : `toolcrib://${namespace}/${id}`;
}

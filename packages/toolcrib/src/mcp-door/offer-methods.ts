import { isObject, type Json, type JsonObject } from '../model/json.ts';
import type { DoorCaller } from './door-caller.ts';
import { modernVersion } from './door-caller.ts';
import type { DoorExchange } from './door-exchange.ts';
import type { DoorParts } from './door-parts.ts';
import type { DoorTools } from './door-tools.ts';
import { parseArtifactUri } from './artifact-uri.ts';
import { DoorError, rpcCodes } from './rpc.ts';
import { SourceOffers, type Offer, type OfferKind } from './source-offers.ts';
import { sourceRequest } from './source-request.ts';
import type { Tool } from '../model/tool.ts';

/** Makes a request to a source on the path of every call. Resolves with its result, or with the JSON of a question to the client. */
export type AskSource = (exchange: DoorExchange, request: Tool, args: JsonObject, params: JsonObject) => Promise<JsonObject | string>;

/** How long a client may keep a list, and for whom: what one caller may use is nobody else's business. */
export const cacheHints = { ttlMs: 30_000, cacheScope: 'private' } as const;

const listMethods: Record<string, { kind: OfferKind; field: string; id: string }> = {
  'resources/list': { kind: 'resources', field: 'resources', id: 'uri' },
  'resources/templates/list': { kind: 'templates', field: 'resourceTemplates', id: 'uriTemplate' },
  'prompts/list': { kind: 'prompts', field: 'prompts', id: 'name' },
};

/** [DOOR-5] The methods about resources, prompts and completion. */
export class OfferMethods {
  readonly #parts: DoorParts;
  readonly #offers: SourceOffers;
  readonly #askSource: AskSource;
  readonly #toolsOf: (caller: DoorCaller) => DoorTools;

  constructor(parts: DoorParts, askSource: AskSource, toolsOf: (caller: DoorCaller) => DoorTools) {
    this.#parts = parts;
    this.#offers = new SourceOffers(parts);
    this.#askSource = askSource;
    this.#toolsOf = toolsOf;
  }

  /** Undefined where the method is none of these. */
  async dispatch(method: string, params: JsonObject, exchange: DoorExchange): Promise<string | undefined> {
    const listed = Object.hasOwn(listMethods, method) ? listMethods[method] : undefined;
    if (listed !== undefined) return this.#list(exchange.caller, listed);
    switch (method) {
      case 'resources/read':
        return this.#read(exchange, params);
      case 'prompts/get':
        return this.#prompt(exchange, params);
      case 'completion/complete':
        return this.#complete(exchange, params);
      default:
        return undefined;
    }
  }

  #offersOf(kind: OfferKind, caller: DoorCaller): Promise<Offer[]> {
    return this.#offers.of(kind, caller, this.#toolsOf(caller));
  }

  async #list(caller: DoorCaller, { kind, field, id }: { kind: OfferKind; field: string; id: string }): Promise<string> {
    const entries = (await this.#offersOf(kind, caller)).map(({ shown, entry }) => Object.assign({}, entry, { [id]: shown }));
    return JSON.stringify({ ...fieldsOf(caller, cacheHints), [field]: entries });
  }

  async #read(exchange: DoorExchange, params: JsonObject): Promise<string> {
    const { uri } = params;
    const { caller } = exchange;
    if (typeof uri !== 'string') throw new DoorError(rpcCodes.invalidParams, 'params.uri must be the address of a resource');
    const part = parseArtifactUri(uri);
    if (part !== undefined) return this.#readArtifact(caller, uri, part);
    for (const { like, id } of await this.placesOf(caller, uri)) {
      const result = await this.#askSource(exchange, sourceRequest('resources/read', like), { uri: id }, params).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (typeof result === 'string') return result;
      if (result !== undefined)
        return JSON.stringify({ ...fieldsOf(caller, { ...cacheHints, ttlMs: 0 }), ...plain(result), ...hintsIn(caller, result) });
    }
    throw unknownResource(caller, uri);
  }

  /** Throws where the caller has no such part of an answer. */
  async checkArtifact(caller: DoorCaller, uri: string): Promise<void> {
    const part = parseArtifactUri(uri);
    const artifact = part && (await this.#parts.artifacts.find(caller.principal, part.callId, part.n));
    if (artifact === undefined) throw unknownResource(caller, uri);
  }

  /** Where a resource may be: at one source where the address says which, else wherever it is listed, or templates are. */
  async placesOf(caller: DoorCaller, uri: string): Promise<Pick<Offer, 'like' | 'id'>[]> {
    const listed = (await this.#offersOf('resources', caller)).filter(({ shown }) => shown === uri);
    if (listed.length > 0) return listed;
    const [, namespace, id] = /^toolcrib:\/\/([^/]+)\/(.+)$/s.exec(uri) ?? [];
    const templates = await this.#offersOf('templates', caller);
    const sources = new Map(templates.map(({ like }) => [like.source_id, like]));
    const ofNamespace = [...sources.values()].filter((like) => like.namespace === namespace);
    if (id !== undefined) return ofNamespace.map((like) => ({ like, id }));
    // As answers of tools link to it.
    const byItself = (await this.#offersOf('resources', caller)).filter((offer) => offer.id === uri);
    return byItself.length > 0 ? byItself : [...sources.values()].map((like) => ({ like, id: uri }));
  }

  async #readArtifact(caller: DoorCaller, uri: string, { callId, n }: { callId: string; n: number }): Promise<string> {
    const artifact = await this.#parts.artifacts.find(caller.principal, callId, n);
    if (artifact === undefined) throw unknownResource(caller, uri);
    const { mime_type: mimeType, data } = artifact;
    const bytes = Buffer.from(data);
    const content = /^text\/|\bjson\b/.test(mimeType) ? { text: bytes.toString('utf8') } : { blob: bytes.toString('base64') };
    return JSON.stringify({ ...fieldsOf(caller, { ...cacheHints, ttlMs: 0 }), contents: [{ uri, mimeType, ...content }] });
  }

  async #prompt(exchange: DoorExchange, params: JsonObject): Promise<string> {
    const { name, arguments: args } = params;
    const { caller } = exchange;
    const prompt = (await this.#offersOf('prompts', caller)).find(({ shown }) => shown === name);
    if (prompt === undefined) throw unknownPrompt(name);
    const asked = { name: prompt.id, ...(isObject(args) && { arguments: args }) };
    const result = await this.#askSource(exchange, sourceRequest('prompts/get', prompt.like), asked, params);
    return typeof result === 'string' ? result : JSON.stringify({ ...fieldsOf(caller, {}), ...plain(result) });
  }

  async #complete(exchange: DoorExchange, params: JsonObject): Promise<string> {
    const { ref } = params;
    const { caller } = exchange;
    const [kind, field] = isObject(ref) && ref['type'] === 'ref/prompt' ? (['prompts', 'name'] as const) : (['templates', 'uri'] as const);
    const named = isObject(ref) ? ref[field] : undefined;
    const offer = (await this.#offersOf(kind, caller)).find(({ shown }) => shown === named);
    if (offer === undefined || !isObject(ref)) throw unknownPrompt(named);
    const { _meta: _own, ...asked } = params;
    const args = { ...asked, ref: { ...ref, [field]: offer.id } };
    const result = await this.#askSource(exchange, sourceRequest('completion/complete', offer.like), args, params);
    return typeof result === 'string' ? result : JSON.stringify({ ...fieldsOf(caller, {}), ...plain(result) });
  }
}

/** Of every result of the stateless revision. */
function fieldsOf({ version }: DoorCaller, hints: JsonObject): JsonObject {
  return version === modernVersion ? { resultType: 'complete', ...hints } : {};
}

/** Without what belongs to the revision that its source speaks. */
function plain({ resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...result }: JsonObject): JsonObject {
  return result;
}

/** A source may say for how long its answer holds; for whom is for us to say. */
function hintsIn({ version }: DoorCaller, { ttlMs }: JsonObject): JsonObject {
  return version === modernVersion && typeof ttlMs === 'number' ? { ttlMs } : {};
}

function isNotFound(error: unknown): boolean {
  return error instanceof DoorError && (error.code === rpcCodes.resourceNotFound || error.code === rpcCodes.invalidParams);
}

/** [DOOR-7] Also for one that is there for others. */
function unknownResource({ version }: DoorCaller, uri: string): DoorError {
  const code = version === modernVersion ? rpcCodes.invalidParams : rpcCodes.resourceNotFound;
  return new DoorError(code, 'Resource not found', { data: { uri: uri.slice(0, 2000) } });
}

function unknownPrompt(name: Json | undefined): DoorError {
  return new DoorError(rpcCodes.invalidParams, `Unknown prompt or template: ${typeof name === 'string' ? name.slice(0, 200) : ''}`);
}

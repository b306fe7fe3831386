import { CribError } from '../../../model/crib-error.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { isObject, own, textAt, type Node } from './node.ts';
import { Unusable } from './unusable.ts';

type Format = '2.0' | '3.0' | '3.1' | '3.2';

/** A document with all that it refers to, and the way along its references. */
export interface OpenDocument {
  readonly root: JsonObject;
  readonly format: Format;
  /** As the document writes it. */
  readonly version: string;
  /** Where the parts came from that were taken in from other documents, by their pointers. */
  readonly origins: Map<string, string>;
  /** A reference as whoever wrote the document knows it. */
  shown(reference: string): string;
  /** What a reference leads to; undefined where that is nowhere. Throws `Unusable` where it leads out of the document. */
  find(reference: string): Node;
  /** The object itself, or what its `$ref` leads to; `what` says in a reason what it should have been. */
  follow(node: Node, what: string): JsonObject;
}

const longestChain = 20;

export function openDocument(value: Json): OpenDocument {
  const { root, format, version } = recognise(value);
  const found = new Map<string, Node>();

  function find(reference: string): Node {
    if (!reference.startsWith('#')) throw new Unusable(outside(reference));
    if (!found.has(reference)) found.set(reference, locate(root, reference.slice(1)));
    return found.get(reference);
  }

  const origins = new Map<string, string>();

  function shown(reference: string): string {
    const [, pointer = '', rest = ''] = /^#(\/[^/]*\/[^/]*)(.*)$/s.exec(reference) ?? [];
    const origin = origins.get(pointer);
    return origin === undefined ? reference : `${origin}${rest === '' ? '' : `#${rest}`}`;
  }

  return {
    root,
    format,
    version,
    origins,
    shown,
    find,
    follow(node, what) {
      let at = node;
      for (let step = 0; step < longestChain; step++) {
        if (!isObject(at)) throw new Unusable(`${what} is no object`);
        const reference = own(at, '$ref');
        if (typeof reference !== 'string') return at;
        at = find(reference);
        if (at === undefined) throw new Unusable(`${what} refers to ${shown(reference)}, which is not there`);
      }
      throw new Unusable(`${what} refers to itself`);
    },
  };
}

/** RFC 6901, in a fragment. */
function locate(root: JsonObject, pointer: string): Node {
  let at: Node = root;
  if (pointer === '') return at;
  if (!pointer.startsWith('/')) return undefined;
  for (const segment of pointer.slice(1).split('/')) {
    if (typeof at !== 'object' || at === null) return undefined;
    const name = decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    at = own(at as JsonObject, name);
  }
  return at;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function outside(reference: string): string {
  return `It refers to ${reference.slice(0, 500)}, which is another document: external_refs has to allow its address`;
}

function recognise(value: Json): { root: JsonObject; format: Format; version: string } {
  if (!isObject(value)) throw notOpenApi(Array.isArray(value) ? 'It is a list.' : value === null ? 'It is empty.' : 'It is only text.');
  // YAML reads 2.0 and 3.1 as numbers where nobody has put them in quotes.
  const named = own(value, 'openapi') ?? own(value, 'swagger');
  const version = typeof named === 'number' ? named.toFixed(1) : named;
  if (typeof version !== 'string') throw notOpenApi(looksLike(value));
  const format = (['2.0', '3.0', '3.1', '3.2'] as const).find((known) => version === known || version.startsWith(`${known}.`));
  if (format === undefined) {
    throw notOpenApi(`It says that it is OpenAPI ${version.slice(0, 50)}; 2.0, 3.0, 3.1 and 3.2 can be read.`);
  }
  return { root: value, format, version };
}

/** What somebody may have given in its place. */
function looksLike(value: JsonObject): string {
  if (Object.hasOwn(value, 'arazzo')) return 'It is an Arazzo document: register it as a source of type workflow.';
  if (Object.hasOwn(value, 'asyncapi')) return 'It is an AsyncAPI document.';
  if (Object.hasOwn(value, 'swaggerVersion')) return 'It is of Swagger 1, which has to be converted first.';
  if (Object.hasOwn(value, 'call_template_type')) return 'It is a UTCP call template: use toolcrib import.';
  if (Object.hasOwn(value, 'mcpServers')) return 'It is a configuration of MCP servers: use toolcrib import.';
  if (isObject(value['info']) && Object.hasOwn(value['info'], '_postman_id')) return 'It is a Postman collection.';
  if (textAt(own(value, '$schema')) !== undefined) return 'It is a JSON Schema.';
  const names = Object.keys(value).slice(0, 5).join(', ').slice(0, 200);
  return names === '' ? 'It is empty.' : `It has neither openapi nor swagger, but ${names}.`;
}

function notOpenApi(reason: string): CribError {
  return new CribError('VALIDATION_ERROR', `This is not an OpenAPI document or a UTCP manual. ${reason}`);
}

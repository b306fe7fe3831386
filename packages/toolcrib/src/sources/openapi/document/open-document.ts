import { CribError } from '../../../model/crib-error.ts';
import { atReference } from '../../../model/json-pointer.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { own, textAt, type Node } from '../../documents/node.ts';
import { Unusable } from '../../documents/unusable.ts';

type Format = '2.0' | '3.0' | '3.1' | '3.2';

/** A document with a way to resolve its references. */
export interface OpenDocument {
  readonly root: JsonObject;
  readonly format: Format;
  /** As the document writes it. */
  readonly version: string;
  /** The addresses of embedded documents, by JSON Pointer. */
  readonly origins: Map<string, string>;
  /** A reference in the form that the author of the document knows, for messages. */
  shown(reference: string): string;
  /** The target of a reference; undefined if it does not exist. Throws `Unusable` if the reference leads to another document. */
  find(reference: string): Node;
  /** The object itself, or the target of its `$ref`. `what` names the object in the reason of an `Unusable`. */
  follow(node: Node, what: string): JsonObject;
}

const longestChain = 20;

export function openDocument(value: Json): OpenDocument {
  const { root, format, version } = recognise(value);
  const found = new Map<string, Node>();

  function find(reference: string): Node {
    if (!reference.startsWith('#')) throw new Unusable(outside(reference));
    if (!found.has(reference)) found.set(reference, atReference(root, reference));
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
        if (!isObject(at)) throw new Unusable(`${what} is not an object`);
        const reference = own(at, '$ref');
        if (typeof reference !== 'string') return at;
        at = find(reference);
        if (at === undefined) throw new Unusable(`${what} refers to ${shown(reference)}, which does not exist`);
      }
      throw new Unusable(`${what} refers to itself`);
    },
  };
}

function outside(reference: string): string {
  return `The reference ${reference.slice(0, 500)} leads to another document: allow its address in external_refs`;
}

function recognise(value: Json): { root: JsonObject; format: Format; version: string } {
  if (!isObject(value)) throw notOpenApi(Array.isArray(value) ? 'It is a list.' : value === null ? 'It is empty.' : 'It is only text.');
  // YAML parses 2.0 and 3.1 as numbers unless they are quoted.
  const named = own(value, 'openapi') ?? own(value, 'swagger');
  const version = typeof named === 'number' ? named.toFixed(1) : named;
  if (typeof version !== 'string') throw notOpenApi(looksLike(value));
  const format = (['2.0', '3.0', '3.1', '3.2'] as const).find((known) => version === known || version.startsWith(`${known}.`));
  if (format === undefined) {
    throw notOpenApi(`Its version is OpenAPI ${version.slice(0, 50)}; 2.0, 3.0, 3.1 and 3.2 are supported.`);
  }
  return { root: value, format, version };
}

/** Names the format that was given by mistake. */
function looksLike(value: JsonObject): string {
  if (Object.hasOwn(value, 'arazzo')) return 'It is an Arazzo document: register it as a source of type workflow.';
  if (Object.hasOwn(value, 'asyncapi')) return 'It is an AsyncAPI document.';
  if (Object.hasOwn(value, 'swaggerVersion')) return 'It is a Swagger 1 document: convert it to OpenAPI first.';
  if (Object.hasOwn(value, 'call_template_type')) return 'It is a UTCP call template: use toolcrib import.';
  if (Object.hasOwn(value, 'mcpServers')) return 'It is a configuration of MCP servers: use toolcrib import.';
  if (isObject(value['info']) && Object.hasOwn(value['info'], '_postman_id')) return 'It is a Postman collection.';
  if (textAt(own(value, '$schema')) !== undefined) return 'It is a JSON Schema.';
  const names = Object.keys(value).slice(0, 5).join(', ').slice(0, 200);
  return names === '' ? 'It is empty.' : `It has no field openapi or swagger, but ${names}.`;
}

function notOpenApi(reason: string): CribError {
  return new CribError('VALIDATION_ERROR', `This is not an OpenAPI document or a UTCP manual. ${reason}`);
}

import { isObject, type JsonObject } from '../../../model/json.ts';
import { isJson, isMediaType } from './media-types.ts';
import { listAt, objectAt, own, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { Unusable } from '../../documents/unusable.ts';

/** The documented responses of an operation. Unreadable parts are ignored, because responses are only described. */
export interface Answers {
  /** The value of the `Accept` header. */
  accept: string;
  /** The schema of the first success in JSON; undefined if none is documented. */
  schema: Node;
  /** [POLL-1] Whether a 202 is documented that names an address to poll. */
  begins: boolean;
  /** Whether a redirect is documented, and no success. */
  redirects: boolean;
}

const mostTypes = 10;

export function findAnswers(document: OpenDocument, operation: JsonObject): Answers {
  const responses = objectAt(own(operation, 'responses'));
  const successes = Object.entries(responses)
    .filter(([status]) => /^2(\d\d|XX)$/i.test(status))
    .map(([status, response]) => ({ status, response: followed(document, response) }));
  const contents = successes.map(({ response }) => contentOf(document, operation, response));
  const types = [...new Set(contents.flatMap((content) => content.map(([type]) => type)))].filter(isMediaType);
  const [, schema] = contents.flat().find(([type, schema]) => isJson(type) && schema !== undefined) ?? [];
  const begins = successes.some(({ status, response }) => status === '202' && namesPlace(response));
  const redirects = successes.length === 0 && Object.keys(responses).some((status) => /^3(\d\d|XX)$/i.test(status));
  return { accept: acceptOf(types), schema, begins, redirects };
}

function contentOf(document: OpenDocument, operation: JsonObject, response: JsonObject): [type: string, schema: Node][] {
  if (document.format !== '2.0') {
    return Object.entries(objectAt(own(response, 'content'))).map(([type, media]) => [type, own(followed(document, media), 'schema')]);
  }
  const schema = own(response, 'schema');
  const produces = listAt(own(operation, 'produces') ?? own(document.root, 'produces')).filter((type) => typeof type === 'string');
  if (produces.length > 0) return produces.map((type) => [type, schema]);
  return isObject(schema) && own(schema, 'type') !== 'file' ? [['application/json', schema]] : [];
}

/** Prefers JSON, which models read best. */
function acceptOf(types: string[]): string {
  const rank = (type: string) => (type === 'application/json' ? 0 : isJson(type) ? 1 : 2);
  const sorted = types.toSorted((a, b) => rank(a) - rank(b)).slice(0, mostTypes);
  const [first, ...others] = sorted;
  if (first === undefined) return '*/*';
  return [first, ...others.map((type) => `${type};q=0.9`)].join(', ');
}

function namesPlace(response: JsonObject): boolean {
  const namesIt = Object.keys(objectAt(own(response, 'headers'))).some((name) => /^(operation-)?location$/i.test(name));
  return namesIt || Object.keys(objectAt(own(response, 'links'))).length > 0;
}

/** An unreadable response does not affect the request. */
function followed(document: OpenDocument, node: Node): JsonObject {
  try {
    return document.follow(node, 'An answer');
  } catch (error) {
    if (error instanceof Unusable) return {};
    throw error;
  }
}

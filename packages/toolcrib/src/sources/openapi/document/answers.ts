import type { JsonObject } from '../../../model/json.ts';
import { isJson, isMediaType } from './media-types.ts';
import { isObject, listAt, objectAt, own, type Node } from './node.ts';
import type { OpenDocument } from './open-document.ts';
import { Unusable } from './unusable.ts';

/** What the document says of the answers of an operation, as far as it can be read: they are only described, not made. */
export interface Answers {
  /** The value of `Accept`. */
  accept: string;
  /** The schema of the best answer in JSON; undefined where none is documented. */
  schema: Node;
  /** [POLL-1] Whether one says that something has only begun, and where to ask how it goes. */
  begins: boolean;
  /** Whether there is a redirect among them, and no success. */
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

/** JSON before all others: it is what a model reads best. */
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

/** An answer that cannot be read does no harm to the request. */
function followed(document: OpenDocument, node: Node): JsonObject {
  try {
    return document.follow(node, 'An answer');
  } catch (error) {
    if (error instanceof Unusable) return {};
    throw error;
  }
}

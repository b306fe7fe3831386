import type { CursorPagination, HttpParameter } from '../../../model/http-operation.ts';
import { isObject } from '../../../model/json.ts';
import { familyOf } from './family.ts';
import { own, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { typesOf } from './schema-keywords.ts';

/** Unambiguous names: the field of a response that holds the next cursor, and the parameters that take the cursor. */
const cursors: Record<string, string[]> = {
  next_cursor: ['cursor', 'next_cursor'],
  nextCursor: ['cursor', 'nextCursor'],
  next_page_token: ['page_token', 'next_page_token'],
  nextPageToken: ['pageToken', 'nextPageToken'],
  next_token: ['next_token', 'pagination_token'],
  nextToken: ['nextToken'],
  NextToken: ['NextToken'],
  next_marker: ['marker'],
  nextMarker: ['marker'],
  NextMarker: ['Marker', 'marker'],
  continuation_token: ['continuation_token'],
  continuationToken: ['continuationToken'],
  continue: ['continue'],
};

/** Objects beside the list that may hold the cursor. */
const wrappers = ['response_metadata', 'pagination', 'paging', 'meta', 'metadata', 'page_info'];

/** The field of a response that names the next page, and the argument that takes it. Null unless the document is unambiguous. */
export function findPagination(document: OpenDocument, answer: Node, parameters: readonly HttpParameter[]): CursorPagination | null {
  const takers = new Map(parameters.filter((one) => one.in === 'query' && !one.required).map((one) => [one.name, one.argument]));
  if (takers.size === 0 || answer === undefined) return null;

  function within(schema: Node, pointer: string): CursorPagination | null {
    for (const [name, property] of familyOf(document, schema).properties) {
      const taker = Object.hasOwn(cursors, name) ? cursors[name]?.find((one) => takers.has(one)) : undefined;
      if (taker !== undefined && isText(property)) return { pointer: `${pointer}/${name}`, argument: takers.get(taker) ?? taker };
    }
    return null;
  }

  function isText(property: Node): boolean {
    const reference = isObject(property) ? own(property, '$ref') : undefined;
    const schema = typeof reference === 'string' && reference.startsWith('#') ? document.find(reference) : property;
    if (!isObject(schema)) return false;
    const types = typesOf(own(schema, 'type')).filter((type) => type !== 'null');
    return types.length === 1 && types[0] === 'string';
  }

  const direct = within(answer, '');
  if (direct !== null) return direct;
  const { properties } = familyOf(document, answer);
  for (const wrapper of wrappers) {
    const found = properties.has(wrapper) ? within(properties.get(wrapper), `/${wrapper}`) : null;
    if (found !== null) return found;
  }
  return null;
}

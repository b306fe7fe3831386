import type { Json, JsonObject } from '../../../model/json.ts';
import { isObject, listAt, own, type Node } from './node.ts';
import type { OpenDocument } from './open-document.ts';

/** The properties of an object, wherever they stand in the schemas that all hold for it. */
export interface Family {
  members: ReadonlySet<JsonObject>;
  properties: Map<string, Json>;
  /** Whether nothing is missing: no member is elsewhere, and there are not too many. */
  complete: boolean;
  /** The names of those that are `readOnly` or `writeOnly`. */
  hidden(keyword: 'readOnly' | 'writeOnly'): Set<string>;
}

const mostMembers = 200;

/** Follows references and `allOf`, as far as the document goes. */
export function familyOf(document: OpenDocument, schema: Node): Family {
  const properties = new Map<string, Json>();
  const members = new Set<JsonObject>();
  let complete = true;

  function visit(node: Node): void {
    if (!isObject(node) || members.size >= mostMembers) return void (complete = false);
    if (members.has(node)) return;
    members.add(node);
    const reference = own(node, '$ref');
    if (typeof reference === 'string') visit(reference.startsWith('#') ? document.find(reference) : undefined);
    for (const member of listAt(own(node, 'allOf'))) visit(member);
    const given = own(node, 'properties');
    if (!isObject(given)) return;
    for (const [name, property] of Object.entries(given)) if (name !== '__proto__') properties.set(name, property);
  }

  visit(schema);
  return {
    members,
    properties,
    complete,
    hidden: (keyword) =>
      new Set([...properties].filter(([, property]) => isObject(property) && own(property, keyword) === true).map(([name]) => name)),
  };
}

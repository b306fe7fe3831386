import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { listAt, own, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';

/** All schemas that apply to the same object, with their properties. */
export interface Family {
  members: ReadonlySet<JsonObject>;
  properties: Map<string, Json>;
  /** False if a member could not be found in the document, or if there are too many members. */
  complete: boolean;
  /** The names of the properties that are `readOnly` or `writeOnly`. */
  hidden(keyword: 'readOnly' | 'writeOnly'): Set<string>;
}

const mostMembers = 200;

/** Follows `allOf`, and references within the document. */
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

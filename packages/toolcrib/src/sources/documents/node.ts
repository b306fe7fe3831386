import { isObject, type Json, type JsonObject } from '../../model/json.ts';

/** A part of a document: any JSON value, because documents do not always follow their specification. */
export type Node = Json | undefined;

/** The node if it is an object, else an empty object. */
export function objectAt(node: Node): JsonObject {
  return isObject(node) ? node : {};
}

export function listAt(node: Node): Json[] {
  return Array.isArray(node) ? node : [];
}

/** The node if it is text that is not blank, else undefined. */
export function textAt(node: Node): string | undefined {
  return typeof node === 'string' && node.trim() !== '' ? node : undefined;
}

/** Text, or a number or boolean as text: YAML reads many unquoted texts as one of these. */
export function wordAt(node: Node): string | undefined {
  return typeof node === 'string' || typeof node === 'number' || typeof node === 'boolean' ? String(node) : undefined;
}

/** An object's own property: a document may use any name, including `constructor` and others that every object inherits. */
export function own(node: JsonObject, name: string): Node {
  return Object.hasOwn(node, name) ? node[name] : undefined;
}

/** Shortens text to at most `most` UTF-16 units, without leaving half of a surrogate pair. */
export function cut(text: string, most: number): string {
  return text.length <= most
    ? text.toWellFormed()
    : `${text
        .slice(0, most - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

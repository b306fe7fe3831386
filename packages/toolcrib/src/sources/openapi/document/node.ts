import type { Json, JsonObject } from '../../../model/json.ts';

/** A part of a document: anything that JSON can carry, wherever it should have been something else. */
export type Node = Json | undefined;

export function isObject(node: Node): node is JsonObject {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

/** An object, or an empty one in the place of anything else. */
export function objectAt(node: Node): JsonObject {
  return isObject(node) ? node : {};
}

export function listAt(node: Node): Json[] {
  return Array.isArray(node) ? node : [];
}

/** Text that is not empty; undefined for everything else. */
export function textAt(node: Node): string | undefined {
  return typeof node === 'string' && node.trim() !== '' ? node : undefined;
}

/** Text, or what a number or a boolean looks like: YAML takes much for one that was meant as text. */
export function wordAt(node: Node): string | undefined {
  return typeof node === 'string' || typeof node === 'number' || typeof node === 'boolean' ? String(node) : undefined;
}

/** What is an object's own: a document may use any word as a name, also those that every object inherits something under. */
export function own(node: JsonObject, name: string): Node {
  return Object.hasOwn(node, name) ? node[name] : undefined;
}

/** No longer than `most`, and never cut in the middle of a character. */
export function cut(text: string, most: number): string {
  return text.length <= most
    ? text.toWellFormed()
    : `${text
        .slice(0, most - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

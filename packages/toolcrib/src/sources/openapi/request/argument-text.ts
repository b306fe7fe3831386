import type { Json, JsonObject } from '../../../model/json.ts';
import { badArgument } from './bad-argument.ts';

/** Own properties only: a document may call a parameter `constructor`. */
export function argumentOf(args: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** A scalar as text. Only `deepObject` can write nested lists and objects. */
export function argumentText(value: Json, argument: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw badArgument(argument, 'contains nested lists or objects, which its style cannot express');
  // A lone surrogate cannot be encoded, and must not be replaced silently.
  if (!value.isWellFormed()) throw badArgument(argument, 'contains half a character (a lone surrogate)');
  return value;
}

/** JSON in ASCII, which is valid in headers and in every charset. */
export function jsonText(value: Json): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

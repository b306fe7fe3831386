import type { Json, JsonObject } from '../../../model/json.ts';
import { badArgument } from './bad-argument.ts';

/** Never what every object has by nature: a document may call a parameter `constructor`. */
export function argumentOf(args: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(args, name) ? args[name] : undefined;
}

/** A single value as text. Lists and objects inside of others have no form in any style but `deepObject`. */
export function argumentText(value: Json, argument: string): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw badArgument(argument, 'has lists or objects inside of it, for which its style has no form');
  // Half a character cannot be sent, and must not become another one on its way.
  if (!value.isWellFormed()) throw badArgument(argument, 'contains half a character (a lone surrogate)');
  return value;
}

/** As JSON in letters that every place takes. */
export function jsonText(value: Json): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

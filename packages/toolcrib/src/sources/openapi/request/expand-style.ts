import type { ParameterStyle } from '../../../model/http-operation.ts';
import type { Json } from '../../../model/json.ts';
import { argumentText } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';

interface StyleShape {
  first: string;
  /** Separates the parts of a value that is not exploded. */
  delimiter: string;
  /** Separates the parts of an exploded value. */
  separator: string;
  named: boolean;
  /** RFC 6570 §3.2.7: in a matrix the name alone stands for an empty value. */
  bare?: true;
}

/** The table of RFC 6570 with the additions of OpenAPI. Delimiters that are not legal in a URL are percent-encoded. */
const shapes: Record<Exclude<ParameterStyle, 'deepObject'>, StyleShape> = {
  simple: { first: '', delimiter: ',', separator: ',', named: false },
  label: { first: '.', delimiter: ',', separator: '.', named: false },
  matrix: { first: ';', delimiter: ',', separator: ';', named: true, bare: true },
  form: { first: '', delimiter: ',', separator: '&', named: true },
  // OpenAPI defines no exploded form of these three; documents that use one mean that of `form`.
  spaceDelimited: { first: '', delimiter: '%20', separator: '&', named: true },
  pipeDelimited: { first: '', delimiter: '%7C', separator: '&', named: true },
  tabDelimited: { first: '', delimiter: '%09', separator: '&', named: true },
  cookie: { first: '', delimiter: ',', separator: '; ', named: true },
};

export interface Expansion {
  /** For messages. */
  argument: string;
  /** Already encoded. */
  name: string;
  style: ParameterStyle;
  explode: boolean;
  encode(text: string): string;
  /** Overrides the separator of the style. */
  separator?: string;
}

const deepest = 32;

/** [OAS-2] Writes a value in its style. Undefined for null, and for empty lists and objects, which write nothing (RFC 6570 §2.3). */
export function expandStyle(value: Json, expansion: Expansion): string | undefined {
  const { argument, name, style, explode, encode } = expansion;
  if (value === null) return undefined;
  if (style === 'deepObject') {
    const pairs = deepPairs(name, value, { argument, encode });
    return pairs.length === 0 ? undefined : pairs.join('&');
  }
  const { first, delimiter, separator: usual, named, bare } = shapes[style];
  const separator = expansion.separator ?? usual;
  const text = (part: Json) => encode(argumentText(part, argument));
  const pair = (key: string, part: Json) => {
    const written = text(part);
    return bare && written === '' ? key : `${key}=${written}`;
  };
  if (typeof value !== 'object') return `${first}${named ? pair(name, value) : text(value)}`;

  let parts: string[];
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== null);
    parts = items.map((item) => (explode && named ? pair(name, item) : text(item)));
  } else {
    const entries = Object.entries(value).filter(([, part]) => part !== null);
    parts = entries.flatMap(([key, part]) => (explode ? [pair(text(key), part)] : [text(key), text(part)]));
  }
  if (parts.length === 0) return undefined;
  return explode ? `${first}${parts.join(separator)}` : `${first}${named ? `${name}=` : ''}${parts.join(delimiter)}`;
}

/**
 * OpenAPI defines `deepObject` for one level. Deeper levels follow common practice: `a[b][c]=1` for objects in objects, `a[b][]=1` for each
 * item of a list, `a[b][0][c]=1` if the items are objects.
 */
function deepPairs(name: string, value: Json, { argument, encode }: Pick<Expansion, 'argument' | 'encode'>): string[] {
  const pairs: string[] = [];
  function add(prefix: string, part: Json, depth: number): void {
    if (part === null) return;
    if (depth > deepest) throw badArgument(argument, `is nested more than ${deepest} levels deep`);
    if (typeof part !== 'object') pairs.push(`${prefix}=${encode(argumentText(part, argument))}`);
    else if (Array.isArray(part)) addItems(prefix, part, depth);
    else {
      for (const [key, inner] of Object.entries(part)) add(`${prefix}%5B${encode(argumentText(key, argument))}%5D`, inner, depth + 1);
    }
  }
  /** A numbered item that writes nothing would leave a gap in the list, or shift the items after it. */
  function addItems(prefix: string, items: Json[], depth: number): void {
    const numbered = items.some((item) => typeof item === 'object' && item !== null);
    for (const [index, item] of items.entries()) {
      const before = pairs.length;
      add(`${prefix}%5B${numbered ? index : ''}%5D`, item, depth + 1);
      if (!numbered || pairs.length > before) continue;
      throw badArgument(argument, `has an empty item ${index} in a list, which a form cannot express: fill it in, or leave the item out`);
    }
  }
  add(name, value, 0);
  return pairs;
}

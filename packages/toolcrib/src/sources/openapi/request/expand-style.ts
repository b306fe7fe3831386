import type { ParameterStyle } from '../../../model/http-operation.ts';
import type { Json } from '../../../model/json.ts';
import { argumentText } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';

interface StyleShape {
  first: string;
  /** Between the parts of a value that is not exploded. */
  delimiter: string;
  /** Between those of one that is. */
  separator: string;
  named: boolean;
  /** RFC 6570 §3.2.7: in a matrix the name alone stands for an empty value. */
  bare?: true;
}

/** The table of RFC 6570, with what OpenAPI adds. Delimiters that no address can carry are percent-encoded. */
const shapes: Record<Exclude<ParameterStyle, 'deepObject'>, StyleShape> = {
  simple: { first: '', delimiter: ',', separator: ',', named: false },
  label: { first: '.', delimiter: ',', separator: '.', named: false },
  matrix: { first: ';', delimiter: ',', separator: ';', named: true, bare: true },
  form: { first: '', delimiter: ',', separator: '&', named: true },
  // OpenAPI has no exploded form of these; whoever writes it means what `form` does.
  spaceDelimited: { first: '', delimiter: '%20', separator: '&', named: true },
  pipeDelimited: { first: '', delimiter: '%7C', separator: '&', named: true },
  tabDelimited: { first: '', delimiter: '%09', separator: '&', named: true },
  cookie: { first: '', delimiter: ',', separator: '; ', named: true },
};

export interface Expansion {
  /** For messages. */
  argument: string;
  /** Encoded already. */
  name: string;
  style: ParameterStyle;
  explode: boolean;
  encode(text: string): string;
  /** In place of what the style puts between the parts of an exploded value. */
  separator?: string;
}

const deepest = 32;

/** [OAS-2] A value as its style writes it; undefined where nothing is written, as for null and for what is empty in the sense of RFC 6570 §2.3. */
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
 * OpenAPI defines `deepObject` for one level. Beyond it we write what the field understands: `a[b][c]=1` for objects in objects, `a[b][]=1` for
 * each item of a list, `a[b][0][c]=1` where the items are objects.
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
  /** Where items have numbers, one that leaves nothing behind would be missing from the list, or the others would move up. */
  function addItems(prefix: string, items: Json[], depth: number): void {
    const numbered = items.some((item) => typeof item === 'object' && item !== null);
    for (const [index, item] of items.entries()) {
      const before = pairs.length;
      add(`${prefix}%5B${numbered ? index : ''}%5D`, item, depth + 1);
      if (!numbered || pairs.length > before) continue;
      throw badArgument(argument, `has nothing in item ${index} of a list, which a form cannot say: fill it in, or leave the item out`);
    }
  }
  add(name, value, 0);
  return pairs;
}

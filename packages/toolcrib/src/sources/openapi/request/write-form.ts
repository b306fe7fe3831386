import type { BodyForm } from '../../../model/http-operation.ts';
import { isObject, type Json } from '../../../model/json.ts';
import { argumentText } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';
import { checkedBase64 } from './base64.ts';
import { expandStyle } from './expand-style.ts';
import { encodeAllButReserved, percentEncode } from './percent-encode.ts';

/**
 * `application/x-www-form-urlencoded`. If the document gives no style for a property, lists are repeated and objects are JSON, as in
 * OpenAPI. A space is `%20`, which every server reads.
 */
export function writeForm(value: Json, argument: string, encodings: BodyForm['encoding']): string {
  if (!isObject(value)) throw badArgument(argument, 'must be an object: it is sent as a form');
  const pairs: string[] = [];
  for (const [property, part] of Object.entries(value)) {
    const inner = `${argument}.${property}`;
    const name = percentEncode(argumentText(property, argument));
    const encoding = Object.hasOwn(encodings, property) ? encodings[property] : undefined;
    const encode = encoding?.allow_reserved === true ? (text: string) => encodeAllButReserved(text, 'query') : percentEncode;
    if (encoding !== undefined && encoding.style !== null) {
      const written = expandStyle(part, { argument: inner, name, style: encoding.style, explode: encoding.explode, encode });
      if (written !== undefined) pairs.push(written);
      continue;
    }
    const isText = encoding === undefined || encoding.content_type === null;
    for (const item of isText && Array.isArray(part) ? part : [part]) {
      if (item === null) continue;
      const text = typeof item === 'object' ? JSON.stringify(item) : argumentText(item, inner);
      pairs.push(`${name}=${encode(encoding?.binary === true ? checkedBase64(text, inner) : text)}`);
    }
  }
  return pairs.join('&');
}

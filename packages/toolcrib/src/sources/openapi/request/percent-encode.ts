const unreserved = /^[\w.~-]*$/;

/** Encodes everything but the unreserved characters of RFC 3986 §2.3 (RFC 6570 §3.2.1). The text must be well-formed. */
export function percentEncode(text: string): string {
  if (unreserved.test(text)) return text;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * RFC 6570 §3.2.3 keeps all reserved characters. Each place here keeps only those without a meaning of their own, so that a value cannot
 * begin another segment, parameter or fragment.
 */
const keptIn = {
  path: /%[\da-f]{2}|[^\w.~:@!$&'()*+,;=-]/giu,
  query: /%[\da-f]{2}|[^\w.~:/?@!$'()*,;=-]/giu,
  /** The whole query, in which several pairs are allowed. */
  querystring: /%[\da-f]{2}|[^\w.~:/?@!$&'()*+,;=-]/giu,
};

/** For `allowReserved`: keeps reserved characters and existing percent-encoding. */
export function encodeAllButReserved(text: string, place: keyof typeof keptIn): string {
  return text.replaceAll(keptIn[place], (part) => (part.length === 3 && part.startsWith('%') ? part : percentEncode(part)));
}

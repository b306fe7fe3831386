const unreserved = /^[\w.~-]*$/;

/** Everything but the unreserved characters of RFC 3986 §2.3, as RFC 6570 §3.2.1 wants it. The text must be well-formed. */
export function percentEncode(text: string): string {
  if (unreserved.test(text)) return text;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Of what RFC 6570 §3.2.3 leaves as it is, each place keeps what has no meaning of its own there: nobody begins another segment, parameter or
 * fragment with a value.
 */
const keptIn = {
  path: /%[\da-f]{2}|[^\w.~:@!$&'()*+,;=-]/giu,
  query: /%[\da-f]{2}|[^\w.~:/?@!$'()*,;=-]/giu,
  /** The whole of it, in which pairs are wanted. */
  querystring: /%[\da-f]{2}|[^\w.~:/?@!$&'()*+,;=-]/giu,
};

/** With `allowReserved`: reserved characters and what is percent-encoded already stay. */
export function encodeAllButReserved(text: string, place: keyof typeof keptIn): string {
  return text.replaceAll(keptIn[place], (part) => (part.length === 3 && part.startsWith('%') ? part : percentEncode(part)));
}

import type { HttpParameter } from '../../../model/http-operation.ts';
import { checkHeaderName, checkHeaderValue } from '../../upstream/header-rules.ts';
import { isMediaType } from '../document/media-types.ts';
import { cut, listAt, objectAt, wordAt, type Node } from '../document/node.ts';
import { Unusable } from '../document/unusable.ts';

interface TemplateHeaders {
  /** In small letters. */
  fixed: Record<string, string>;
  contentType: string;
}

/** The headers that a template has for all calls. What a document may not choose is left out and told. */
export function templateHeaders(headers: Node, contentType: Node, warn: (message: string) => void): TemplateHeaders {
  const fixed = new Map<string, string>();
  for (const [name, given] of Object.entries(objectAt(headers))) {
    const value = wordAt(given);
    if (value === undefined) continue;
    if (/\$\{|\$[A-Za-z_]/.test(value)) {
      warn(`The header ${cut(name, 100)} has a variable in it, which no document can choose: give the header with the source, in headers`);
    } else if (isSendable(name, value)) fixed.set(name.toLowerCase(), value);
    else warn(`The header ${JSON.stringify(cut(name, 100))} cannot be sent; it is left out`);
  }
  const type = fixed.get('content-type') ?? wordAt(contentType) ?? 'application/json';
  fixed.delete('content-type');
  if (!isMediaType(type) || type.includes('*')) throw new Unusable(`Its content_type ${JSON.stringify(cut(type, 100))} is no media type`);
  return { fixed: Object.fromEntries(fixed), contentType: type };
}

/** What belongs to the body, the credential or the connection (RFC 9110 §7.6.1). */
const noArguments = /^(?:accept|content-type|authorization|cookie|proxy-authorization)$/i;

/** The arguments that become headers. */
export function headerParameters(headerFields: Node): HttpParameter[] {
  return listAt(headerFields).map((name) => {
    if (typeof name !== 'string' || noArguments.test(name) || !isSendable(name, '')) {
      throw new Unusable(`Its header_fields has ${JSON.stringify(name)}, which no caller can send as a header`);
    }
    const place = { argument: name, name, in: 'header' as const, required: false };
    return Object.assign(place, { style: 'simple' as const, explode: false, allow_reserved: false, content_type: null });
  });
}

function isSendable(name: string, value: string): boolean {
  try {
    checkHeaderName(name, 'headers');
    checkHeaderValue(value, 'headers');
    return true;
  } catch {
    return false;
  }
}

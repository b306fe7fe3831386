import type { HttpParameter } from '../../../model/http-operation.ts';
import { checkHeaderName, checkHeaderValue } from '../../upstream/header-rules.ts';
import { isMediaType } from '../document/media-types.ts';
import { cut, listAt, objectAt, wordAt, type Node } from '../../documents/node.ts';
import { Unusable } from '../../documents/unusable.ts';

interface TemplateHeaders {
  /** By lower-case name. */
  fixed: Record<string, string>;
  contentType: string;
}

/** The headers that a template sends with every call. Headers that a document may not set are left out with a warning. */
export function templateHeaders(headers: Node, contentType: Node, warn: (message: string) => void): TemplateHeaders {
  const fixed = new Map<string, string>();
  for (const [name, given] of Object.entries(objectAt(headers))) {
    const value = wordAt(given);
    if (value === undefined) continue;
    if (/\$\{|\$[A-Za-z_]/.test(value)) {
      warn(`The header ${cut(name, 100)} has a variable in it, which no document may use: set the header in the headers of the source`);
    } else if (isSendable(name, value)) fixed.set(name.toLowerCase(), value);
    else warn(`The header ${JSON.stringify(cut(name, 100))} cannot be sent; it is left out`);
  }
  const type = fixed.get('content-type') ?? wordAt(contentType) ?? 'application/json';
  fixed.delete('content-type');
  if (!isMediaType(type) || type.includes('*')) throw new Unusable(`content_type ${JSON.stringify(cut(type, 100))} is not a media type`);
  return { fixed: Object.fromEntries(fixed), contentType: type };
}

/** Headers that belong to the body, the response or the credential. `isSendable` refuses those of the connection. */
const noArguments = /^(?:accept|content-type|authorization|cookie|proxy-authorization)$/i;

/** The arguments that become headers. */
export function headerParameters(headerFields: Node): HttpParameter[] {
  return listAt(headerFields).map((name) => {
    if (typeof name !== 'string' || noArguments.test(name) || !isSendable(name, '')) {
      throw new Unusable(`header_fields contains ${JSON.stringify(name)}, which callers may not send as a header: remove it`);
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

import type { HttpParameter } from '../../../model/http-operation.ts';
import { isObject, type JsonObject } from '../../../model/json.ts';
import { listAt, objectAt, own, textAt, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { isMediaType } from './media-types.ts';
import { collectionStyle, styleOf } from './parameter-style.ts';
import { Unusable } from '../../documents/unusable.ts';

/** A parameter with its schema in the document. */
export interface FoundParameter extends Omit<HttpParameter, 'argument'> {
  description: string | undefined;
  schema: Node;
}

/** The parameters of a Swagger 2.0 operation that form its body. */
export interface BodyParameters {
  body: JsonObject | undefined;
  form: JsonObject[];
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const mostParameters = 2000;
const longestName = 512;
const places = ['path', 'query', 'querystring', 'header', 'cookie'] as const;

/** Headers that OpenAPI describes elsewhere, and headers of the connection (RFC 9110 §7.6.1) or the credential. */
const noArguments = new Set(
  'accept content-type authorization connection keep-alive proxy-connection te trailer transfer-encoding upgrade host content-length expect'
    .concat(' proxy-authenticate proxy-authorization cookie')
    .split(' '),
);

/** [OAS-2] The parameters of the path item and of the operation; those of the operation take precedence. */
export function findParameters(
  document: OpenDocument,
  operation: JsonObject,
  pathItem: JsonObject,
  warn: (message: string) => void,
): BodyParameters & { parameters: FoundParameter[] } {
  const merged = new Map<string, JsonObject>();
  for (const given of [own(pathItem, 'parameters'), own(operation, 'parameters')]) {
    for (const entry of listAt(given)) {
      const parameter = document.follow(entry, 'A parameter');
      merged.set(JSON.stringify([own(parameter, 'in'), own(parameter, 'name')]), parameter);
    }
  }
  if (merged.size > mostParameters) throw new Unusable(`The operation has more than ${mostParameters} parameters`);
  const all = [...merged.values()];
  const old = document.format === '2.0';
  const isBody = (parameter: JsonObject, place: string) => old && own(parameter, 'in') === place;
  const plain = all.filter((parameter) => !isBody(parameter, 'body') && !isBody(parameter, 'formData'));
  return {
    parameters: plain.flatMap((parameter) => readParameter(document, parameter, warn)),
    body: all.find((parameter) => isBody(parameter, 'body')),
    form: all.filter((parameter) => isBody(parameter, 'formData') && textAt(own(parameter, 'name')) !== undefined),
  };
}

/** Empty if the parameter cannot be an argument. */
function readParameter(document: OpenDocument, parameter: JsonObject, warn: (message: string) => void): FoundParameter[] {
  const name = own(parameter, 'name');
  const place = places.find((known) => known === own(parameter, 'in'));
  if (typeof name !== 'string' || name === '') {
    if (own(parameter, 'required') === true) throw new Unusable('A parameter has no name');
    warn('A parameter has no name; it is left out');
    return [];
  }
  if (name.length > longestName) throw new Unusable(`A parameter has a name of more than ${longestName} characters`);
  if (place === undefined)
    throw new Unusable(`The parameter ${name} is in ${JSON.stringify(own(parameter, 'in') ?? null)}: use ${places.join(', ')}`);
  if (place === 'header' && noArguments.has(name.toLowerCase())) return [];
  const required = place === 'path' || own(parameter, 'required') === true;
  if ((place === 'header' || place === 'cookie') && !token.test(name)) {
    if (required) throw new Unusable(`The parameter ${JSON.stringify(name)} cannot be the name of a ${place}`);
    warn(`The parameter ${JSON.stringify(name)} cannot be the name of a ${place}; it is left out`);
    return [];
  }
  const found = { name, in: place, required, description: textAt(own(parameter, 'description')) };
  const allow_reserved = own(parameter, 'allowReserved') === true;
  if (document.format === '2.0') {
    return [{ ...found, ...collectionStyle(place, parameter), allow_reserved, content_type: null, schema: parameter }];
  }
  const [content_type, media] = Object.entries(objectAt(own(parameter, 'content')))[0] ?? [null, undefined];
  if (content_type !== null && !isMediaType(content_type)) throw new Unusable(`The parameter ${name} has no media type that can be sent`);
  const schema = content_type === null ? own(parameter, 'schema') : isObject(media) ? own(media, 'schema') : undefined;
  let style = styleOf(place, parameter);
  if (style === undefined) {
    warn(`The parameter ${name} has a style that is not allowed in a ${place}; the default style is used`);
    style = styleOf(place, {}) ?? { style: 'simple', explode: false };
  }
  return [{ ...found, ...style, allow_reserved, content_type, schema: schema ?? {} }];
}

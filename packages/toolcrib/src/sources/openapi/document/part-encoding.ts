import type { ParameterStyle, PartEncoding } from '../../../model/http-operation.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { familyOf } from './family.ts';
import { isJson, isMediaType, isText } from './media-types.ts';
import { listAt, objectAt, own, textAt, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { collectionStyle, explodesByDefault } from './parameter-style.ts';
import { typesOf } from './schema-keywords.ts';

const styles: ParameterStyle[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];

/** [OAS-2] How the properties of a form or multipart body are written. Properties with the default encoding are left out. */
export function partEncodings(
  document: OpenDocument,
  schema: Node,
  encoding: JsonObject,
  multipart: boolean,
): Record<string, PartEncoding> {
  const made: [string, PartEncoding][] = [];
  for (const [name, property] of familyOf(document, schema).properties) {
    const given = objectAt(own(encoding, name));
    const transfer = multipart ? transferEncoding(document, property) : undefined;
    const givenType = textAt(own(given, 'contentType')) ?? transfer?.mediaType;
    const binary = multipart && isBinary(document, property, givenType);
    const style = styleOf(given, property, document.format === '2.0');
    const headers = { ...transfer?.headers, ...fixedHeaders(document, objectAt(own(given, 'headers'))) };
    const content_type = givenType !== undefined && isMediaType(givenType) && !givenType.includes('*') ? givenType : null;
    const isUsual = !binary && style.style === null && content_type === null && Object.keys(headers).length === 0;
    if (isUsual && !style.allow_reserved) continue;
    made.push([name, { content_type, ...style, binary, headers }]);
  }
  return Object.fromEntries(made);
}

function styleOf(given: JsonObject, property: Json, old: boolean): Pick<PartEncoding, 'style' | 'explode' | 'allow_reserved'> {
  const allow_reserved = own(given, 'allowReserved') === true;
  if (old && isObject(property) && typesOf(own(property, 'type')).includes('array')) {
    return { ...collectionStyle('formData', property), allow_reserved };
  }
  const explode = own(given, 'explode');
  const givenStyle = own(given, 'style');
  if (givenStyle === undefined && explode === undefined && !allow_reserved) return { style: null, explode: true, allow_reserved };
  const style = styles.find((known) => known === givenStyle) ?? 'form';
  return { style, explode: typeof explode === 'boolean' ? explode : explodesByDefault(style), allow_reserved };
}

/** OpenAPI 3.1.1 §4.8.15: `contentEncoding` of a part becomes its Content-Transfer-Encoding header. */
function transferEncoding(document: OpenDocument, property: Node): { mediaType: string; headers: Record<string, string> } | undefined {
  const schema = resolved(document, property) ?? {};
  if (typesOf(own(schema, 'type')).includes('array')) return transferEncoding(document, own(schema, 'items') ?? {});
  const encoding = textAt(own(schema, 'contentEncoding'));
  if (encoding === undefined || !/^(?:base64|quoted-printable)$/i.test(encoding)) return undefined;
  const mediaType = textAt(own(schema, 'contentMediaType')) ?? 'application/octet-stream';
  return { mediaType, headers: { 'Content-Transfer-Encoding': encoding.toLowerCase() } };
}

/**
 * Whether raw bytes are sent: `binary` of 3.0, `file` of 2.0, a media type without an encoding of 3.1, or a list of these. Encoded bytes
 * are sent as text.
 */
export function isBinary(document: OpenDocument, property: Node, contentType?: string): boolean {
  const schema = resolved(document, property);
  if (schema === undefined) return false;
  const types = typesOf(own(schema, 'type'));
  if (types.includes('array')) return isBinary(document, own(schema, 'items') ?? {}, contentType);
  if (own(schema, 'type') === 'file' || own(schema, 'format') === 'binary' || own(schema, 'contentEncoding') === 'binary') return true;
  if (isEncodedText(schema)) return false;
  const mediaType = textAt(own(schema, 'contentMediaType'));
  if (mediaType !== undefined) return !isJson(mediaType) && !isText(mediaType);
  // In 3.1 a part may be described by its media type alone.
  const saysNothing =
    types.length === 0 && !['properties', 'allOf', 'anyOf', 'oneOf', 'enum', 'const'].some((key) => Object.hasOwn(schema, key));
  return saysNothing && contentType !== undefined && !contentType.split(',').some((type) => isJson(type) || isText(type));
}

/** Whether the document requires encoded instead of raw bytes. */
export function isEncoded(document: OpenDocument, node: Node): boolean {
  return isEncodedText(resolved(document, node) ?? {});
}

function isEncodedText(schema: JsonObject): boolean {
  const [encoding, format] = [own(schema, 'contentEncoding'), own(schema, 'format')];
  return (encoding !== undefined && encoding !== 'binary') || format === 'byte' || format === 'base64';
}

function resolved(document: OpenDocument, node: Node): JsonObject | undefined {
  let at = node;
  for (let step = 0; step < 20 && isObject(at); step++) {
    const reference = own(at, '$ref');
    const members = listAt(own(at, 'allOf'));
    if (typeof reference === 'string' && reference.startsWith('#')) at = document.find(reference);
    else if (members.length === 1) at = members[0];
    else return at;
  }
  return undefined;
}

/** The headers for which the document gives a single value or a default. */
function fixedHeaders(document: OpenDocument, headers: JsonObject): Record<string, string> {
  const fixed = Object.entries(headers).flatMap(([name, header]): [string, string][] => {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || name.toLowerCase() === 'content-type') return [];
    const schema = resolved(document, own(resolved(document, header) ?? {}, 'schema')) ?? {};
    const values = listAt(own(schema, 'enum'));
    const value = own(schema, 'const') ?? (values.length === 1 ? values[0] : own(schema, 'default'));
    return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value) ? [[name, value]] : [];
  });
  return Object.fromEntries(fixed);
}

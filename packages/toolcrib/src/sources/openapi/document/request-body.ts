import type { HttpRequestBody } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { bodyKind, preferredType } from './media-types.ts';
import { listAt, objectAt, own, textAt, type Node } from './node.ts';
import type { OpenDocument } from './open-document.ts';
import type { BodyParameters } from './parameters.ts';
import { isBinary, isEncoded, partEncodings } from './part-encoding.ts';
import { Unusable } from './unusable.ts';

/** A body with the part of the document that says what is in it. */
export interface FoundBody {
  body: HttpRequestBody;
  description: string | undefined;
  schema: Node;
  /** Whether its text stands for bytes. */
  encoded: boolean;
}

/** [OAS-2] The body of a request; null where there is none. */
export function findBody(document: OpenDocument, method: string, operation: JsonObject, old: BodyParameters): FoundBody | null {
  if (document.format === '2.0') return oldBody(document, operation, old);
  const given = own(operation, 'requestBody');
  // RFC 9110 gives it no meaning there, and 3.0 says that it is not to be looked at.
  if (given === undefined || method === 'TRACE' || method === 'HEAD' || (method === 'GET' && document.format === '3.0')) return null;
  const requestBody = document.follow(given, 'Its body');
  const content = objectAt(own(requestBody, 'content'));
  const type = preferredType(Object.keys(content));
  if (type === undefined) {
    if (Object.keys(content).length === 0 && own(requestBody, 'required') !== true) return null;
    throw new Unusable('Its body has no media type that can be sent');
  }
  const media = document.follow(content[type], 'Its body');
  const required = own(requestBody, 'required') === true;
  return bodyOf(document, { type, schema: own(media, 'schema') ?? {}, required, encoding: objectAt(own(media, 'encoding')) }, requestBody);
}

interface Content {
  type: string;
  schema: Node;
  required: boolean;
  encoding: JsonObject;
}

function bodyOf(document: OpenDocument, { type, schema, required, encoding }: Content, described: JsonObject): FoundBody {
  const isRange = type.includes('*');
  const usual = isRange ? (isBinary(document, schema) ? 'binary' : 'json') : bodyKind(type);
  // Base64 that the document asks for is sent as the text that it is.
  const encoded = usual === 'binary' && isEncoded(document, schema);
  const kind = encoded ? 'text' : usual;
  const content_type = isRange ? (kind === 'binary' ? 'application/octet-stream' : 'application/json') : type;
  const parts = kind === 'form' || kind === 'multipart' ? partEncodings(document, schema, encoding, kind === 'multipart') : {};
  return {
    body: { argument: 'body', required, content_type, kind, encoding: parts },
    description: textAt(own(described, 'description')),
    schema,
    encoded,
  };
}

function oldBody(document: OpenDocument, operation: JsonObject, { body, form }: BodyParameters): FoundBody | null {
  const consumes = listAt(own(operation, 'consumes') ?? own(document.root, 'consumes')).filter((type) => typeof type === 'string');
  if (body !== undefined) {
    const type = preferredType(consumes) ?? 'application/json';
    return bodyOf(document, { type, schema: own(body, 'schema') ?? {}, required: own(body, 'required') === true, encoding: {} }, body);
  }
  if (form.length === 0) return null;
  const forms = consumes.filter((type) => ['form', 'multipart'].includes(bodyKind(type)));
  const hasFile = form.some((parameter) => own(parameter, 'type') === 'file');
  const fallback = hasFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  const type = hasFile ? (forms.find((one) => bodyKind(one) === 'multipart') ?? fallback) : (preferredType(forms) ?? fallback);
  const required = form
    .filter((parameter) => own(parameter, 'required') === true)
    .flatMap((parameter) => textAt(own(parameter, 'name')) ?? []);
  const properties = Object.fromEntries(form.map((parameter) => [textAt(own(parameter, 'name')) ?? '', parameter]));
  const schema = { type: 'object', properties, required };
  return bodyOf(document, { type, schema, required: required.length > 0, encoding: {} }, {});
}

import type { BodyForm, JsonType } from '../../../model/http-operation.ts';
import type { JsonObject } from '../../../model/json.ts';
import { familyOf } from './family.ts';
import { jsonPatchSchema } from './json-patch-schema.ts';
import { bareType, bodyKind, isMediaType, isPlain, rankOf, takesJsonText } from './media-types.ts';
import { listAt, own, type Node } from '../../documents/node.ts';
import type { OpenDocument } from './open-document.ts';
import { isBinary, isEncoded, partEncodings } from './part-encoding.ts';
import { everyType, valueTypes } from './value-types.ts';

/** One media type of a body, as the document gives it. */
export interface Content {
  type: string;
  schema: Node;
  encoding: JsonObject;
}

export interface FoundForm extends BodyForm {
  schema: Node;
  takes: JsonType[];
  /** Whether the schema describes the argument itself. False if the argument is other text, or base64, that stands for the value. */
  described: boolean;
}

const mostForms = 50;
const patchType = 'application/json-patch+json';

/** [OAS-2] The forms that a body can be sent in, without synonyms and the preferred one first. Empty if there is none. */
export function bodyForms(document: OpenDocument, method: string, contents: readonly Content[]): FoundForm[] {
  const found = contents.filter(({ type }) => isMediaType(type)).map((content) => formOf(document, content));
  const fitting = found.filter(({ schema, takes }) => takes.some((type) => valueTypes(document, schema)?.has(type) !== false));
  const ranked = (fitting.length === 0 ? found : fitting).toSorted((one, other) => rank(one) - rank(other));
  return withPatches(method, ranked)
    .filter((form, index, all) => !all.slice(0, index).some((other) => saysTheSame(form, other)))
    .slice(0, mostForms);
}

function formOf(document: OpenDocument, { type, schema, encoding }: Content): FoundForm {
  const isRange = type.includes('*');
  const usual = isRange ? (isBinary(document, schema) ? 'binary' : 'json') : bodyKind(type);
  // Base64 that the document requires is sent as text.
  const encoded = usual === 'binary' && isEncoded(document, schema);
  const kind = encoded ? 'text' : usual;
  const content_type = isRange ? (kind === 'binary' ? 'application/octet-stream' : 'application/json') : type;
  const form = { content_type, kind, schema, encoding: {}, described: true };
  const types = valueTypes(document, schema);
  switch (kind) {
    case 'form':
    case 'multipart':
      return { ...form, takes: ['object'], encoding: partEncodings(document, schema, encoding, kind === 'multipart') };
    case 'json':
      return { ...form, takes: [...(types ?? everyType)] };
    case 'text': {
      const hasFields = takesJsonText(type) && types !== undefined && [...types].some((one) => one !== 'string' && one !== 'null');
      return { ...form, takes: hasFields ? [...types] : ['string'], described: encoded || hasFields };
    }
    case 'binary':
      return { ...form, takes: ['string'], described: false };
  }
}

/** Prefers multipart bodies with files: they carry raw bytes, and other forms need base64. */
function rank({ content_type, kind, encoding }: FoundForm): number {
  const hasFile = kind === 'multipart' && Object.values(encoding).some(({ binary }) => binary);
  return hasFile ? -1 : rankOf(content_type, kind);
}

/**
 * RFC 6902: a JSON Patch is a list. Kubernetes describes it, like every other kind of patch, as an object; other documents list its media
 * type for every body.
 */
function withPatches(method: string, forms: FoundForm[]): FoundForm[] {
  const isOdd = ({ content_type, takes }: FoundForm) => bareType(content_type) === patchType && !takes.includes('array');
  const [odd, others] = [forms.filter(isOdd), forms.filter((form) => !isOdd(form))];
  if (others.length === 0) return forms;
  const patches = odd.map((form): FoundForm => Object.assign({}, form, { schema: jsonPatchSchema, takes: ['array' as const] }));
  return method === 'PATCH' ? [...others, ...patches] : others;
}

/** Whether two forms have the same schema, and media types that are the same or differ only in syntax. */
function saysTheSame(one: FoundForm, other: FoundForm): boolean {
  if (!isSameSchema(one.schema, other.schema)) return false;
  return bareType(one.content_type) === bareType(other.content_type) || (isPlain(one.content_type) && isPlain(other.content_type));
}

export function isSameSchema(one: Node, other: Node): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The fields that tell the objects of one form from those of another. */
export function fieldsOf(document: OpenDocument, schema: Node): { required: string[]; known: string[] } {
  const { members, properties } = familyOf(document, schema);
  const required = [...members].flatMap((member) => listAt(own(member, 'required'))).filter((name) => typeof name === 'string');
  const isSent = (name: string) => own((properties.get(name) ?? {}) as JsonObject, 'readOnly') !== true;
  return { required: [...new Set(required)].filter(isSent), known: [...properties.keys()] };
}

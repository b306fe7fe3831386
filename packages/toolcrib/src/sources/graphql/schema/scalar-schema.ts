import type { JsonObject } from '../../../model/json.ts';
import { cut } from '../../documents/node.ts';
import type { SchemaType } from './type-table.ts';

const int32 = { minimum: -2_147_483_648, maximum: 2_147_483_647 };
/** Integers of more than 53 bits may be given as text, because a JSON number would change them. */
const integerOrText = { type: ['integer', 'string'], pattern: '^[+-]?[0-9]{1,100}$' };
const decimalOrText = { type: ['number', 'string'] };
const text = { type: 'string' };
const anObject = { type: 'object' };

const builtIn: Record<string, JsonObject> = {
  Int: { type: 'integer', ...int32 },
  Float: { type: 'number' },
  String: text,
  Boolean: { type: 'boolean' },
  ID: { type: ['string', 'integer'] },
};

/** Well-known scalars by lower-case name. A format is only a hint for the model: services differ in what they accept. */
const known: Record<string, JsonObject> = {
  datetime: { ...text, format: 'date-time' },
  timestamp: { type: ['string', 'integer'] },
  timestamptz: { ...text, format: 'date-time' },
  date: { ...text, format: 'date' },
  time: text,
  duration: text,
  url: { ...text, format: 'uri' },
  uri: { ...text, format: 'uri' },
  uuid: { ...text, format: 'uuid' },
  email: { ...text, format: 'email' },
  emailaddress: { ...text, format: 'email' },
  bigint: integerOrText,
  int64: integerOrText,
  uint64: integerOrText,
  int128: integerOrText,
  uint128: integerOrText,
  long: integerOrText,
  biginteger: integerOrText,
  unsignedint64: integerOrText,
  int53: { type: 'integer' },
  uint53: { type: 'integer', minimum: 0 },
  decimal: decimalOrText,
  bigdecimal: decimalOrText,
  numeric: decimalOrText,
  money: decimalOrText,
  json: {},
  jsonb: {},
  any: {},
  jsonobject: anObject,
  map: anObject,
  base64: text,
  base64string: text,
  html: text,
  void: { type: 'null' },
};

/** The JSON Schema of a scalar. An unknown scalar accepts any value: only its description says what it is. */
export function scalarSchema({ name, description, specifiedBy }: SchemaType): JsonObject {
  const own = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
  if (own !== undefined) return own;
  const usual = name.toLowerCase();
  const schema = Object.hasOwn(known, usual) ? known[usual] : {};
  const words = [description.trim(), specifiedBy === '' ? '' : `Specified by ${specifiedBy}`].filter((part) => part !== '');
  return { ...schema, description: cut(words.length === 0 ? `A value of the scalar ${name}` : words.join('\n'), 1000) };
}

/** Files are sent as multipart requests, not as JSON. */
export function isUpload({ kind, name }: SchemaType): boolean {
  return kind === 'scalar' && name === 'Upload';
}

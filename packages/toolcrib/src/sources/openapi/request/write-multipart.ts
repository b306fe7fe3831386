import type { BodyForm, PartEncoding } from '../../../model/http-operation.ts';
import { isObject, type Json } from '../../../model/json.ts';
import { argumentText } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';
import { bytesOf } from './base64.ts';
import { encodedText } from './encoded-text.ts';

interface Part {
  name: string;
  filename: string | undefined;
  contentType: string | undefined;
  headers: Readonly<Record<string, string>>;
  content: string | Buffer;
}

const plain: PartEncoding = { content_type: null, style: null, explode: true, allow_reserved: false, binary: false, headers: {} };

/** RFC 7578. Lists are repeated parts, objects are JSON, files have a name. */
export function writeMultipart(value: Json, body: Pick<BodyForm, 'encoding'> & { argument: string }, boundary: string): Buffer {
  const { argument, encoding } = body;
  if (!isObject(value)) throw badArgument(argument, 'must be an object with one field for each part');
  const chunks: (string | Buffer)[] = [];
  const properties = Object.entries(value).map(([property, content]) => {
    return { property, content, how: (Object.hasOwn(encoding, property) ? encoding[property] : undefined) ?? plain };
  });
  // Files come last: services such as Box and S3 need the other fields before they read a file.
  for (const { property, content, how } of properties.toSorted((one, other) => Number(one.how.binary) - Number(other.how.binary))) {
    for (const part of partsOf(property, content, how, `${argument}.${property}`))
      chunks.push(headOf(part, boundary), part.content, '\r\n');
  }
  chunks.push(`--${boundary}--\r\n`);
  return Buffer.concat(chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk)));
}

function partsOf(name: string, value: Json, how: PartEncoding, argument: string): Part[] {
  if (value === null) return [];
  if (how.style !== null && !how.binary) return styledParts(name, value, how, argument);
  // A list with a JSON type is a single part.
  const isList = Array.isArray(value) && (how.binary || how.content_type === null || !/json/i.test(how.content_type));
  const items = isList ? value.filter((item) => item !== null) : [value];
  return items.map((item) => (how.binary ? filePart(name, item, how, argument) : textPart(name, item, how, argument)));
}

function textPart(name: string, value: Json, { content_type, headers }: PartEncoding, argument: string): Part {
  const isText = typeof value !== 'object';
  const isJson = content_type !== null && /json/i.test(content_type);
  const text = isText && !isJson ? argumentText(value, argument) : JSON.stringify(value);
  const contentType = concreteType(content_type) ?? (isText ? undefined : 'application/json');
  return { name, filename: undefined, contentType, headers, content: encodedText(text, contentType ?? '', argument) };
}

function filePart(name: string, value: Json, { content_type, headers }: PartEncoding, argument: string): Part {
  const file = isObject(value) ? value : { data: value };
  const { data, filename = name, content_type: given = null } = file;
  if (typeof data !== 'string') throw badArgument(argument, 'must be bytes in base64, or {data, filename?, content_type?}');
  if (typeof filename !== 'string' || !filename.isWellFormed()) throw badArgument(`${argument}.filename`, 'must be text');
  if (given !== null && (typeof given !== 'string' || !/^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w.+-]+=[\w.+-]+)*$/.test(given))) {
    throw badArgument(`${argument}.content_type`, 'must be a media type such as image/png');
  }
  const contentType = given ?? concreteType(content_type) ?? 'application/octet-stream';
  return { name, filename, contentType, headers, content: bytesOf(data, argument) };
}

/** Styles work as in a form, but part by part and without percent-encoding, which a multipart parser would not undo. */
function styledParts(name: string, value: Json, how: PartEncoding, argument: string): Part[] {
  const part = (key: string, content: Json): Part => textPart(key, argumentText(content, argument), how, argument);
  const delimiter = { spaceDelimited: ' ', pipeDelimited: '|', tabDelimited: '\t' }[how.style as string] ?? ',';
  if (Array.isArray(value)) {
    const items = value.filter((item) => item !== null);
    if (how.explode) return items.map((item) => part(name, item));
    return items.length === 0 ? [] : [part(name, items.map((item) => argumentText(item, argument)).join(delimiter))];
  }
  if (!isObject(value)) return [part(name, value)];
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  if (how.style === 'deepObject') return entries.map(([key, inner]) => part(`${name}[${key}]`, inner));
  if (how.explode) return entries.map(([key, inner]) => part(key, inner));
  return entries.length === 0 ? [] : [part(name, entries.flatMap(([key, inner]) => [key, argumentText(inner, argument)]).join(delimiter))];
}

function headOf({ name, filename, contentType, headers }: Part, boundary: string): string {
  const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`;
  const lines = [`--${boundary}`, `Content-Disposition: form-data; name="${quoted(name)}"${file}`];
  if (contentType !== undefined) lines.push(`Content-Type: ${contentType}`);
  for (const [header, value] of Object.entries(headers)) {
    if (/^[\w-]+$/.test(header) && !/^content-(?:type|disposition)$/i.test(header))
      lines.push(`${header}: ${value.replaceAll(/[\r\n\0]/g, ' ')}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** As in browsers: nothing in a name can end the line or the quotes. */
function quoted(text: string): string {
  return text.toWellFormed().replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('\0', '%00');
}

/** The first media type in a list that is not a range such as `image/*`. */
function concreteType(types: string | null): string | undefined {
  return types
    ?.split(',')
    .map((type) => type.trim())
    .find((type) => type !== '' && !type.includes('*') && !/[\r\n\0]/.test(type));
}

import type { HttpOperation, HttpParameter } from '../../../model/http-operation.ts';
import { atPointer } from '../../../model/json-pointer.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';

interface NextPageInput {
  operation: HttpOperation;
  inputSchema: JsonObject;
  args: JsonObject;
  origin: string;
  /** The path and query of the request. */
  target: string;
  link: string;
  answer: Json | undefined;
}

/** In characters of JSON: longer arguments are too much for a hint. */
const longest = 8192;

/** The arguments that request the next page of a list. Undefined if there is no next page, or if no arguments can request it. */
export function nextPage(input: NextPageInput): JsonObject | undefined {
  const next = input.link === '' ? undefined : nextLink(input.link);
  const byLink = next === undefined ? undefined : argumentsOfLink(input, next);
  const args = byLink ?? argumentsOfCursor(input);
  return args === undefined || JSON.stringify(args).length > longest ? undefined : { arguments: args };
}

/** RFC 8288 §3. */
function nextLink(header: string): string | undefined {
  if (header.length > 16_384) return undefined;
  for (const [, target, parameters = ''] of header.matchAll(/<([^<>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]+))?)*)/g)) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters);
    if ((relation?.[1] ?? relation?.[2] ?? '').toLowerCase().split(/\s+/).includes('next')) return target;
  }
  return undefined;
}

/** For a link to the same operation with another query. Undefined if the link changes anything that is not an argument. */
function argumentsOfLink({ operation, inputSchema, args, origin, target }: NextPageInput, link: string): JsonObject | undefined {
  const asked = new URL(`${origin}${target}`);
  const next = URL.parse(link, asked.href);
  if (next === null || next.origin !== origin || next.pathname !== asked.pathname) return undefined;
  const changed: JsonObject = { ...args };
  for (const name of new Set([...asked.searchParams.keys(), ...next.searchParams.keys()])) {
    const [before, after] = [asked.searchParams.getAll(name), next.searchParams.getAll(name)];
    if (before.join('\n') === after.join('\n')) continue;
    const parameter = operation.parameters.find((candidate) => candidate.in === 'query' && candidate.name === name);
    if (parameter === undefined || parameter.content_type !== null || after.length > 1) return undefined;
    const value = after[0] === undefined ? undefined : typed(after[0], parameter, inputSchema);
    if (value === undefined) delete changed[parameter.argument];
    else changed[parameter.argument] = value;
  }
  return changed;
}

/** Converts query text to the type in the tool's schema. */
function typed(text: string, { argument }: HttpParameter, { properties }: JsonObject): Json {
  const schema = isObject(properties) && Object.hasOwn(properties, argument) ? properties[argument] : undefined;
  const type = isObject(schema) ? schema['type'] : undefined;
  const is = (name: string) => type === name || (Array.isArray(type) && type.includes(name));
  if (is('array')) return [text];
  if ((is('integer') || is('number')) && /^-?\d+(?:\.\d+)?$/.test(text) && String(Number(text)) === text) return Number(text);
  if (is('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function argumentsOfCursor({ operation: { pagination }, args, answer }: NextPageInput): JsonObject | undefined {
  if (pagination === null || answer === undefined) return undefined;
  const cursor = atPointer(answer, pagination.pointer);
  if ((typeof cursor !== 'string' || cursor === '') && typeof cursor !== 'number') return undefined;
  return { ...args, [pagination.argument]: cursor };
}

import { CribError } from '../model/crib-error.ts';
import { atReference } from '../model/json-pointer.ts';
import { isObject, type Json, type JsonObject, type JsonSchema } from '../model/json.ts';

/** The one argument that a UTCP client sends as the body, and how. All others go into the query. */
export interface BodyField {
  name: string;
  content_type: 'application/json' | 'text/plain';
}

const longTexts = new Set(['content', 'contents', 'body', 'text', 'code', 'html', 'markdown', 'data']);

/**
 * The argument that gains most from being the body: a long text, which would not fit into an address, else one that a query cannot hold
 * exactly (an object before a list), else the last text. Clients fill in `$NAME` wherever they find it in a template, so an argument named like that stays in the query.
 */
export function bodyFieldOf(schema: JsonSchema): BodyField | undefined {
  const properties = schema['properties'];
  if (!isObject(properties)) return undefined;
  const candidates = Object.entries(properties).flatMap(([name, property]) =>
    name.includes('$') ? [] : [{ name, types: typesOf(shapesOf([property], schema)) }],
  );
  const texts = candidates.filter(({ types }) => types.size === 1 && types.has('string')).map(({ name }) => name);
  const text = (name: string | undefined): BodyField | undefined => (name === undefined ? undefined : { name, content_type: 'text/plain' });
  const inexact = candidates.filter(({ types }) => !isExactInQuery(types));
  const worst = inexact.find(({ types }) => types.size === 0 || types.has('object')) ?? inexact[0];
  return (
    text(texts.find((name) => longTexts.has(name.toLowerCase()))) ??
    (worst && { name: worst.name, content_type: 'application/json' }) ??
    text(texts.at(-1))
  );
}

/** The arguments of a request as the public client writes it: one in the body, the rest as text in the query, read by the tool's own schema. */
export function utcpArguments(schema: JsonSchema, query: Readonly<Record<string, string | string[]>>, body: Json | undefined): JsonObject {
  const root = branch();
  for (const [key, value] of Object.entries(query)) plant(root, key, [value].flat());
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const args = [...root.children].map(([name, given]): [string, Json] => {
    const shapes = shapesOf(Object.hasOwn(properties, name) ? [properties[name]] : [], schema);
    return [name, valueOf(given, shapes, schema)];
  });
  const field = body === undefined ? undefined : (bodyFieldOf(schema)?.name ?? 'body');
  return Object.fromEntries(body === undefined || field === undefined ? args : [...args, [field, body]]);
}

/** The values of one name in a query: `a=1`, `a[]=1`, `a[b]=1`. */
interface Branch {
  texts: string[];
  isList: boolean;
  children: Map<string, Branch>;
}

const branch = (): Branch => ({ texts: [], isList: false, children: new Map() });

const deepest = 32;

function plant(root: Branch, key: string, texts: string[]): void {
  const [, first = key, rest = ''] = /^([^[]+)((?:\[[^[\]]*\])*)$/.exec(key) ?? [];
  const path = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, name = '']) => name)];
  if (path.length > deepest || path.includes('__proto__')) {
    throw new CribError('VALIDATION_ERROR', 'The query has an argument that is nested too deeply, or named __proto__');
  }
  let place = root;
  for (const [index, name] of path.entries()) {
    if (name === '' && index === path.length - 1) {
      place.isList = true;
      break;
    }
    const next = place.children.get(name) ?? branch();
    place.children.set(name, next);
    place = next;
  }
  place.texts.push(...texts);
}

function valueOf({ texts, isList, children }: Branch, shapes: readonly JsonObject[], schema: JsonSchema): Json {
  const types = typesOf(shapes);
  const below = (names: readonly string[], inner: Branch): Json => valueOf(inner, shapesOf(innerSchemas(shapes, names), schema), schema);
  if (children.size > 0) {
    const keys = [...children.keys()];
    const isArray = keys.every((key) => /^\d{1,5}$/.test(key)) && !types.has('object');
    if (isArray) return [...children].sort(([a], [b]) => Number(a) - Number(b)).map(([, inner]) => below(['items'], inner));
    return Object.fromEntries([...children].map(([name, inner]) => [name, below(['properties', name], inner)]));
  }
  if (isList || texts.length > 1 || (types.size === 1 && types.has('array'))) {
    return texts.map((text) => below(['items'], { ...branch(), texts: [text] }));
  }
  return scalarOf(texts[0] ?? '', types);
}

/** The schemas of a member: of `['properties', name]`, else of additional ones, or of `['items']`. */
function innerSchemas(shapes: readonly JsonObject[], [keyword = '', name]: readonly string[]): (Json | undefined)[] {
  return shapes.map((shape) => {
    const found = shape[keyword];
    if (name === undefined) return found;
    return isObject(found) && Object.hasOwn(found, name) ? found[name] : shape['additionalProperties'];
  });
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A text as what the schema takes; where it takes texts too, only what a client can hardly have meant as one. */
function scalarOf(text: string, types: ReadonlySet<string>): Json {
  const isAny = types.size === 0;
  const takesText = isAny || types.has('string');
  if ((isAny || types.has('number') || types.has('integer')) && jsonNumber.test(text)) {
    const number = Number(text);
    // A large integer that a number cannot hold stays a text, which is refused and not changed.
    const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
    if (String(number) === text || (!takesText && isExact)) return number;
  }
  if ((isAny || types.has('boolean')) && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('null') && !takesText && text === '') return null;
  return text;
}

function isExactInQuery(types: ReadonlySet<string>): boolean {
  if (types.size === 0 || types.has('object') || types.has('array')) return false;
  return types.size === 1 || !types.has('string');
}

const mostShapes = 100;

/** A schema with all that it refers to or is composed of. */
function shapesOf(schemas: readonly (Json | undefined)[], root: JsonSchema): JsonObject[] {
  const found = new Set<JsonObject>();
  const pending: (Json | undefined)[] = [...schemas];
  // It grows while it is walked through.
  for (const schema of pending) {
    if (!isObject(schema) || found.size >= mostShapes) continue;
    if (found.has(schema)) continue;
    found.add(schema);
    const reference = schema['$ref'];
    if (typeof reference === 'string') pending.push(atReference(root, reference));
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const members = schema[keyword];
      if (Array.isArray(members)) pending.push(...members.slice(0, mostShapes));
    }
  }
  return [...found];
}

/** Every type that one of them names; none where they leave it open. */
function typesOf(shapes: readonly JsonObject[]): Set<string> {
  const types = new Set<string>();
  for (const { type, enum: values, const: value } of shapes) {
    for (const name of [type].flat()) if (typeof name === 'string') types.add(name);
    if (type !== undefined) continue;
    const fixed = value === undefined ? values : [value];
    if (Array.isArray(fixed)) for (const one of fixed) types.add(typeNameOf(one));
  }
  return types;
}

function typeNameOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

import { isObject, type Json, type JsonObject, type JsonSchema } from '../../../model/json.ts';

/** A large integer that was given as text, in a JSON body. */
const written = /"-?[1-9]\d{15,19}"/;
const digits = /^-?[1-9]\d{15,19}$/;
const mostShapes = 100;

/** Whether a body may contain an integer that was given as text. */
export function mayHaveLargeIntegers(body: string | Buffer | undefined): boolean {
  return typeof body === 'string' && written.test(body);
}

/** [HTTP-1] Replaces every text that stands for an integer with that integer. The result can only be written as JSON. */
export function withExactIntegers(value: Json, schema: Json | undefined, root: JsonSchema): Json {
  return exact(value, shapesOf([schema], root));

  function exact(part: Json, shapes: readonly JsonObject[]): Json {
    if (typeof part === 'string') return digits.test(part) && isInteger(shapes) ? rawJson(part) : part;
    if (typeof part !== 'object' || part === null) return part;
    const inner = (name?: string) =>
      shapesOf(
        shapes.map((shape) => memberOf(shape, name)),
        root,
      );
    if (Array.isArray(part)) return part.map((item) => exact(item, inner()));
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, exact(item, inner(name))]));
  }
}

/** If the schema also accepts plain text, the value stays text. */
function isInteger(shapes: readonly JsonObject[]): boolean {
  const taking = shapes.filter(({ type }) => [type].flat().includes('string'));
  const is64 = ({ format }: JsonObject) => format === 'int64' || format === 'uint64';
  return taking.length > 0 && taking.every((shape) => [shape['type']].flat().includes('integer') && is64(shape));
}

/** The schema of a property, or of the items if there is no name. */
function memberOf({ properties, additionalProperties, items }: JsonObject, name: string | undefined): Json | undefined {
  if (name === undefined) return items;
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}

/** The given schemas with all schemas that they refer to or are composed of. */
function shapesOf(schemas: readonly (Json | undefined)[], { $defs: definitions }: JsonSchema): JsonObject[] {
  const found = new Set<JsonObject>();
  const pending = [...schemas];
  // The list grows during the loop.
  for (const schema of pending) {
    if (!isObject(schema) || found.has(schema) || found.size >= mostShapes) continue;
    found.add(schema);
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].replace('#/$defs/', '') : '';
    if (isObject(definitions) && Object.hasOwn(definitions, name)) pending.push(definitions[name]);
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const members = schema[keyword];
      if (Array.isArray(members)) pending.push(...members);
    }
  }
  return [...found];
}

/** TypeScript has no type for `JSON.rawJSON` yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): Json };

import { isObject, type Json, type JsonObject, type JsonSchema } from '../../../model/json.ts';
import { nearestDefinitions } from './definitions.ts';
import type { Node } from '../../documents/node.ts';
import type { SchemaTranslator } from './schema-translator.ts';
import { Unusable } from '../../documents/unusable.ts';

const largest = 8 * 1024;
const depths = [12, 8, 6, 4];

/** [OAS-3] The schema of a response, pruned to the size limit: it is only advice. Undefined if the response is not an object. */
export function outputSchema(translator: SchemaTranslator, node: Node): JsonSchema | undefined {
  if (node === undefined) return undefined;
  try {
    const root = rootOf(translator, node);
    return root === undefined ? undefined : fitting(translator, root.schema, root.references);
  } catch (error) {
    // A response that cannot be described is still returned.
    if (error instanceof Unusable) return undefined;
    throw error;
  }
}

/** The schema itself instead of a reference, because its type must be visible. */
function rootOf(translator: SchemaTranslator, node: Node): { schema: JsonObject; references: ReadonlySet<string> } | undefined {
  let { schema, references } = translator.translate(node);
  for (let step = 0; step < 20 && isObject(schema) && typeof schema['$ref'] === 'string'; step++) {
    const [reference] = references;
    if (references.size !== 1 || reference === undefined) return undefined;
    ({ schema, references } = translator.definition(reference));
  }
  return isObject(schema) && schema['type'] === 'object' ? { schema, references } : undefined;
}

function fitting(translator: SchemaTranslator, schema: JsonObject, references: ReadonlySet<string>): JsonSchema | undefined {
  for (const depth of [Infinity, ...depths]) {
    const cut = depth === Infinity ? schema : (pruned(schema, depth) as JsonObject);
    const size = JSON.stringify(cut).length;
    if (size > largest / 2 && depth !== depths.at(-1)) continue;
    const used = depth === Infinity ? references : new Set([...references].filter((reference) => isUsed(translator, reference, cut)));
    const definitions = nearestDefinitions(translator, used, largest - size - 200);
    const whole = Object.keys(definitions).length === 0 ? cut : { ...cut, $defs: definitions };
    if (JSON.stringify(whole).length <= largest) return whole;
  }
  return undefined;
}

function isUsed(translator: SchemaTranslator, reference: string, schema: JsonObject): boolean {
  return JSON.stringify(schema).includes(`"#/$defs/${translator.definition(reference).name}"`);
}

/** Replaces objects below this depth with `{}`, which accepts any value. */
function pruned(value: Json, depth: number): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => pruned(item, depth));
  if (depth === 0) return {};
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, pruned(inner, depth - 1)]));
}

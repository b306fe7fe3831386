import type { JsonObject } from '../../../model/json.ts';
import type { Definition, SchemaTranslator } from './schema-translator.ts';

/** [OAS-3] Exactly the definitions that these references reach; undefined if they take more than `most` characters. */
export function definitionsFor(translator: SchemaTranslator, references: ReadonlySet<string>, most: number): JsonObject | undefined {
  const reached = new Set(references);
  const found: Definition[] = [];
  let size = 0;
  for (const reference of reached) {
    const definition = translator.definition(reference);
    size += definition.size;
    if (size > most) return undefined;
    found.push(definition);
    for (const further of definition.references) reached.add(further);
  }
  return Object.fromEntries(found.map(({ name, schema }) => [name, schema]));
}

/** The nearest definitions within a budget of `most` characters. Definitions that do not fit become `{}`, which accepts any value. */
export function nearestDefinitions(translator: SchemaTranslator, references: ReadonlySet<string>, most: number): JsonObject {
  const reached = new Set(references);
  const found: [string, JsonObject | boolean][] = [];
  let size = 0;
  for (const reference of reached) {
    const definition = translator.definition(reference);
    const hasRoom = size + definition.size <= most;
    size += hasRoom ? definition.size : definition.name.length;
    found.push([definition.name, hasRoom ? definition.schema : {}]);
    if (hasRoom) for (const further of definition.references) reached.add(further);
  }
  return Object.fromEntries(found);
}

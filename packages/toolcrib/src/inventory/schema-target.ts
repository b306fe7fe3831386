import type { Json, JsonObject, JsonSchema } from '../model/json.ts';

/** What a `$ref` within the schema leads to (RFC 6901); undefined where it leads elsewhere, nowhere, or by a name. */
export function schemaTarget(schema: JsonSchema, reference: string): Json | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let found: Json | undefined = schema;
  for (const segment of decoded(reference).split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

import { isObject, type Json, type JsonObject, type JsonSchema } from '../../../model/json.ts';
import { Unsupported } from '../unsupported.ts';

const prefix = '#/components/inputs/';
/** The values of these keywords are data, even if they look like schemas. */
const dataKeywords = new Set(['const', 'default', 'enum', 'example', 'examples']);

/** The inputs of a workflow as a self-contained schema: the components it refers to are copied to its `$defs`. */
export function inputSchema(inputs: JsonObject | undefined, components: Record<string, Json>): JsonSchema {
  if (inputs === undefined) return { type: 'object', properties: {}, additionalProperties: false };
  const used = new Set<string>();

  function selfContained(value: Json): Json {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(selfContained);
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (name === '$ref' && typeof inner === 'string') return [name, ownReference(inner)];
        return [name, dataKeywords.has(name) ? inner : selfContained(inner)];
      }),
    );
  }

  function ownReference(reference: string): string {
    if (reference.startsWith('#/$defs/')) return reference;
    const [name = '', ...rest] = reference.startsWith(prefix) ? reference.slice(prefix.length).split('/') : [];
    if (!Object.hasOwn(components, name))
      throw new Unsupported(`inputs refer to ${reference}; only components of this document (${prefix}…) are supported`);
    used.add(name);
    return ['#/$defs', name, ...rest].join('/');
  }

  const root = rootOf(inputs, components);
  const schema = selfContained(root) as JsonObject;
  const own = schema['$defs'];
  const definitions: JsonObject = isObject(own) ? { ...own } : {};
  // A component may use further ones, which join the set while it is iterated.
  for (const name of used) {
    if (Object.hasOwn(definitions, name)) throw new Unsupported(`inputs have a definition ${name}, and so do the components; rename one`);
    definitions[name] = selfContained(components[name] ?? {});
  }
  return { ...schema, type: 'object', ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }) };
}

/** A tool's schema must have the type `object` at its top level, so a reference there is resolved. */
function rootOf(inputs: JsonObject, components: Record<string, Json>): JsonObject {
  let root: Json = inputs;
  const seen = new Set<Json>();
  for (;;) {
    if (!isObject(root)) throw new Unsupported('inputs must be the schema of an object');
    const reference: Json | undefined = root['$ref'];
    if (typeof reference !== 'string') break;
    const name: string = reference.startsWith(prefix) ? reference.slice(prefix.length) : '';
    if (!Object.hasOwn(components, name) || seen.has(root))
      throw new Unsupported(`inputs refer to ${reference}, which does not exist or refers to itself`);
    seen.add(root);
    root = components[name] ?? null;
  }
  if (root['type'] !== undefined && root['type'] !== 'object') throw new Unsupported('inputs must be the schema of an object');
  return root;
}

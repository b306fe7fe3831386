import type { Json, JsonObject } from '../../../model/json.ts';
import { familyOf } from './family.ts';
import { definitionName } from './definition-name.ts';
import { describe, leafKeyword } from './leaf-keyword.ts';
import { cut, isObject, listAt, own, type Node } from './node.ts';
import { nullable, type Standing } from './nullable.ts';
import type { OpenDocument } from './open-document.ts';
import { legalPattern } from './pattern.ts';
import { inPlaceKeywords, inPlaceLists, innerKeywords } from './schema-keywords.ts';

/** A schema as a JSON Schema of 2020-12, with what it refers to by the references of the document. */
export interface Translated {
  schema: JsonObject | boolean;
  references: ReadonlySet<string>;
}

/** One that others refer to. */
export interface Definition {
  name: string;
  schema: JsonObject | boolean;
  references: ReadonlySet<string>;
  /** Of its JSON. */
  size: number;
}

export interface SchemaTranslator {
  translate(node: Node): Translated;
  definition(reference: string): Definition;
}

interface TranslatorInput {
  document: OpenDocument;
  /** Requests do not have what is read-only; answers not what is write-only, and no descriptions: their schemas are only advice. */
  direction: 'request' | 'answer';
  warn(message: string): void;
}

const none: ReadonlySet<string> = new Set();

/**
 * [OAS-3] Translates schemas of every version of OpenAPI. References stay references, so that circles are no harm and nothing is copied;
 * what they lead to is translated once for the whole document.
 */
export function createSchemaTranslator({ document, direction, warn }: TranslatorInput): SchemaTranslator {
  const hides = direction === 'request' ? 'readOnly' : 'writeOnly';
  const siblingsCount = document.format === '3.1' || document.format === '3.2';
  const definitions = new Map<string, Definition>();
  /** What is being translated: a schema that leads to itself without going into the value would be checked for ever. */
  const underWay = new Set<string>();

  function definition(reference: string): Definition {
    const known = definitions.get(reference);
    if (known !== undefined) return known;
    underWay.add(reference);
    try {
      const target = document.find(reference);
      if (target === undefined) warn(`${document.shown(reference)} is not in the document; anything goes in its place`);
      const { schema, references } = translate(target ?? {});
      const made = { name: definitionName(reference), schema, references, size: JSON.stringify(schema).length };
      definitions.set(reference, made);
      return made;
    } finally {
      underWay.delete(reference);
    }
  }

  function translate(root: Node): Translated {
    const references = new Set<string>();
    /** How far into the value the schema looks that is being translated. */
    let depth = 0;

    function refer(reference: string): JsonObject {
      const inPlace = depth === 0;
      if (inPlace && underWay.has(reference)) {
        warn(`${document.shown(reference)} refers to nothing but itself; anything goes in its place`);
        return {};
      }
      // Throws here already where it leads out of the document, and finds circles on the way.
      if (inPlace) definition(reference);
      references.add(reference);
      return { $ref: `#/$defs/${definitionName(reference)}` };
    }

    function schemaOf(node: Node, stands: Standing, dropped: ReadonlySet<string> = none): JsonObject | boolean {
      if (stands !== 'inside') return schemaAt(node, stands, dropped);
      depth++;
      const schema = schemaAt(node, stands, dropped);
      depth--;
      return schema;
    }

    function schemaAt(node: Node, stands: Standing, dropped: ReadonlySet<string>): JsonObject | boolean {
      if (typeof node === 'boolean') return node;
      if (!isObject(node)) {
        warn(`There is ${Array.isArray(node) ? 'a list' : 'a value'} where a schema should be; anything goes in its place`);
        return {};
      }
      const reference = own(node, '$ref');
      if (typeof reference !== 'string') return nullable(node, objectSchema(node, dropped), stands);
      const description = direction === 'request' ? describe(node) : {};
      const siblings = siblingsCount ? objectSchema(node, dropped) : description;
      return nullable(node, { ...refer(reference), ...siblings }, stands);
    }

    function objectSchema(node: JsonObject, dropped: ReadonlySet<string>): JsonObject {
      const family = Array.isArray(own(node, 'allOf')) ? familyOf(document, node).hidden(hides) : none;
      const gone = family.size === 0 ? dropped : new Set([...family, ...dropped]);
      const entries: [string, Json][] = [];
      for (const [keyword, value] of Object.entries(node)) {
        const translated = keywordOf(keyword, value, node, gone);
        if (translated !== undefined) entries.push(...Object.entries(translated));
      }
      return Object.fromEntries(entries);
    }

    function keywordOf(keyword: string, value: Json, node: JsonObject, gone: ReadonlySet<string>): JsonObject | undefined {
      switch (keyword) {
        case 'description':
          return direction === 'request' ? describe(node) : undefined;
        case 'required':
          return requiredKeyword(value, node, gone);
        case 'properties':
          return isObject(value) ? { properties: schemas(value, (inner) => !isHidden(inner)) } : undefined;
        case 'patternProperties':
          return isObject(value) ? { patternProperties: patterns(value) } : undefined;
        case 'dependentSchemas':
          return isObject(value) ? { dependentSchemas: schemas(value, () => true) } : undefined;
        case 'prefixItems':
          return tuple(value);
        default:
          return structural(keyword, value, gone) ?? leafKeyword(keyword, value, node, warn);
      }
    }

    function structural(keyword: string, value: Json, gone: ReadonlySet<string>): JsonObject | undefined {
      // A list of items was a tuple before 2020-12.
      if (keyword === 'items' && Array.isArray(value)) return tuple(value);
      const isSchema = isObject(value) || typeof value === 'boolean';
      if (inPlaceKeywords.has(keyword)) return isSchema ? { [keyword]: schemaOf(value, 'beside') } : undefined;
      if (innerKeywords.has(keyword)) return isSchema ? { [keyword]: schemaOf(value, 'inside') } : undefined;
      if (inPlaceLists.has(keyword)) {
        const isChoice = keyword !== 'allOf';
        const members = listAt(value).map((member) => schemaOf(member, isChoice ? 'choice' : 'beside', isChoice ? none : gone));
        return members.length === 0 ? undefined : { [keyword]: members };
      }
      return undefined;
    }

    function schemas(given: JsonObject, wanted: (inner: Json) => boolean): JsonObject {
      const kept = Object.entries(given).filter(([name, inner]) => name !== '__proto__' && wanted(inner));
      return Object.fromEntries(kept.map(([name, inner]) => [name, schemaOf(inner, 'inside')]));
    }

    function patterns(given: JsonObject): JsonObject {
      const legal = Object.entries(given).flatMap(([name, inner]): [string, Json][] => {
        const pattern = legalPattern(name);
        if (pattern === undefined) warn(`The pattern ${cut(name, 200)} is no regular expression of ECMAScript; it is left out`);
        return pattern === undefined ? [] : [[pattern, schemaOf(inner, 'inside')]];
      });
      return Object.fromEntries(legal);
    }

    function tuple(value: Json): JsonObject | undefined {
      const items = listAt(value);
      return items.length === 0 ? undefined : { prefixItems: items.map((item) => schemaOf(item, 'inside')) };
    }

    const schema = schemaOf(root, 'beside');
    return { schema, references };
  }

  function isHidden(node: Json): boolean {
    if (!isObject(node)) return false;
    if (own(node, hides) === true) return true;
    const reference = own(node, '$ref');
    const target = typeof reference === 'string' && reference.startsWith('#') ? document.find(reference) : undefined;
    return isObject(target) && own(target, hides) === true;
  }

  function requiredKeyword(value: Json, node: JsonObject, gone: ReadonlySet<string>): JsonObject | undefined {
    const properties = own(node, 'properties');
    const names = listAt(value).filter((name): name is string => typeof name === 'string' && name !== '__proto__' && !gone.has(name));
    const kept = [...new Set(names)].filter((name) => !isObject(properties) || !isHidden(own(properties, name) ?? {}));
    return kept.length === 0 ? undefined : { required: kept };
  }

  return { translate, definition };
}

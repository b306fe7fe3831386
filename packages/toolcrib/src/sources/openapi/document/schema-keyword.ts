import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { describe, leafKeyword } from './leaf-keyword.ts';
import { cut, listAt, own, type Node } from '../../documents/node.ts';
import type { Position } from './nullable.ts';
import type { OpenDocument } from './open-document.ts';
import { legalPattern } from './pattern.ts';
import { alone, hiddenKeyword, type Around, type Direction } from './schema-around.ts';
import { inPlaceKeywords, inPlaceLists, innerKeywords } from './schema-keywords.ts';

interface KeywordContext {
  document: OpenDocument;
  direction: Direction;
  warn(message: string): void;
  /** Translates a schema that a keyword holds. */
  schemaOf(node: Node, position: Position, around?: Around): JsonObject | boolean;
}

/** Translates the keywords of schemas. Undefined for a keyword that JSON Schema cannot express. */
export function createSchemaKeyword({ document, direction, warn, schemaOf }: KeywordContext) {
  return (keyword: string, value: Json, node: JsonObject, around: Around): JsonObject | undefined => {
    switch (keyword) {
      case 'description':
        return direction === 'request' ? describe(node) : undefined;
      case 'required':
        return requiredKeyword(value, node, around.gone);
      case 'properties':
        return isObject(value) ? { properties: schemas(value, (inner) => !isHidden(inner)) } : undefined;
      case 'patternProperties':
        return isObject(value) ? { patternProperties: patterns(value) } : undefined;
      case 'dependentSchemas':
        return isObject(value) ? { dependentSchemas: schemas(value, () => true) } : undefined;
      case 'prefixItems':
        return tuple(value);
      default:
        return structural(keyword, value, around) ?? leafKeyword(keyword, value, node, warn);
    }
  };

  function structural(keyword: string, value: Json, around: Around): JsonObject | undefined {
    // Before 2020-12, a list in `items` was a tuple.
    if (keyword === 'items' && Array.isArray(value)) return tuple(value);
    if (keyword === 'additionalProperties' && around.open) return undefined;
    const isSchema = isObject(value) || typeof value === 'boolean';
    if (inPlaceKeywords.has(keyword)) return isSchema ? { [keyword]: schemaOf(value, 'beside') } : undefined;
    if (innerKeywords.has(keyword)) return isSchema ? { [keyword]: schemaOf(value, 'inside') } : undefined;
    if (inPlaceLists.has(keyword)) {
      const isChoice = keyword !== 'allOf';
      const members = listAt(value).map((member) => schemaOf(member, isChoice ? 'choice' : 'beside', isChoice ? alone : around));
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
      if (pattern === undefined) warn(`The pattern ${cut(name, 200)} is not an ECMAScript regular expression; it is left out`);
      return pattern === undefined ? [] : [[pattern, schemaOf(inner, 'inside')]];
    });
    return Object.fromEntries(legal);
  }

  function tuple(value: Json): JsonObject | undefined {
    const items = listAt(value);
    return items.length === 0 ? undefined : { prefixItems: items.map((item) => schemaOf(item, 'inside')) };
  }

  function isHidden(node: Json): boolean {
    const hidden = hiddenKeyword(direction);
    if (!isObject(node)) return false;
    if (own(node, hidden) === true) return true;
    const reference = own(node, '$ref');
    const target = typeof reference === 'string' && reference.startsWith('#') ? document.find(reference) : undefined;
    return isObject(target) && own(target, hidden) === true;
  }

  function requiredKeyword(value: Json, node: JsonObject, gone: ReadonlySet<string>): JsonObject | undefined {
    const properties = own(node, 'properties');
    const names = listAt(value).filter((name): name is string => typeof name === 'string' && name !== '__proto__' && !gone.has(name));
    const kept = [...new Set(names)].filter((name) => !isObject(properties) || !isHidden(own(properties, name) ?? {}));
    return kept.length === 0 ? undefined : { required: kept };
  }
}

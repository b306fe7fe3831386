import type { Json, JsonObject } from '../../../model/json.ts';
import { isClosed, onlyNames, refusesOthers } from './closed-members.ts';
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

/** What a schema has to know of the one that it is a part of. */
interface Around {
  /** Properties that are not there, and so cannot be required. */
  gone: ReadonlySet<string>;
  /** Whether it leaves what it does not name to the other members of `allOf`. */
  open: boolean;
}

const alone: Around = { gone: new Set(), open: false };
/** Stands before a reference to a schema that is read as such a member: there are two readings of it then. */
const openly = 'open ';

function saysProperties(node: JsonObject): boolean {
  return Object.hasOwn(node, 'properties') || Object.hasOwn(node, 'additionalProperties');
}

/**
 * [OAS-3] Translates schemas of every version of OpenAPI. References stay references, so that circles are no harm and nothing is copied;
 * what they lead to is translated once for the whole document.
 */
export function createSchemaTranslator({ document, direction, warn }: TranslatorInput): SchemaTranslator {
  const hides = direction === 'request' ? 'readOnly' : 'writeOnly';
  const siblingsCount = document.format === '3.1' || document.format === '3.2';
  const definitions = new Map<string, Definition>();
  let warnedOfMembers = false;
  /** What is being translated: a schema that leads to itself without going into the value would be checked for ever. */
  const underWay = new Set<string>();

  function definition(read: string): Definition {
    const known = definitions.get(read);
    if (known !== undefined) return known;
    underWay.add(read);
    const open = read.startsWith(openly);
    const reference = open ? read.slice(openly.length) : read;
    try {
      const target = document.find(reference);
      if (target === undefined) warn(`${document.shown(reference)} is not in the document; anything goes in its place`);
      const { schema, references } = translate(target ?? {}, open ? { ...alone, open } : alone);
      const made = { name: definitionName(read), schema, references, size: JSON.stringify(schema).length };
      definitions.set(read, made);
      return made;
    } finally {
      underWay.delete(read);
    }
  }

  function translate(root: Node, around = alone): Translated {
    const references = new Set<string>();
    /** How far into the value the schema looks that is being translated. */
    let depth = 0;

    function refer(written: string, open: boolean): JsonObject {
      const inPlace = depth === 0;
      const reference = open && isClosed(familyOf(document, document.find(written))) ? `${openly}${written}` : written;
      if (inPlace && underWay.has(reference)) {
        warn(`${document.shown(written)} refers to nothing but itself; anything goes in its place`);
        return {};
      }
      // Throws here already where it leads out of the document, and finds circles on the way.
      if (inPlace) definition(reference);
      references.add(reference);
      return { $ref: `#/$defs/${definitionName(reference)}` };
    }

    function schemaOf(node: Node, stands: Standing, around = alone): JsonObject | boolean {
      if (stands !== 'inside') return schemaAt(node, stands, around);
      depth++;
      const schema = schemaAt(node, stands, around);
      depth--;
      return schema;
    }

    function schemaAt(node: Node, stands: Standing, around: Around): JsonObject | boolean {
      if (typeof node === 'boolean') return node;
      if (!isObject(node)) {
        warn(`There is ${Array.isArray(node) ? 'a list' : 'a value'} where a schema should be; anything goes in its place`);
        return {};
      }
      const reference = own(node, '$ref');
      const { within, names } = membersOf(node, around);
      if (typeof reference !== 'string') return nullable(node, { ...objectSchema(node, within), ...names }, stands);
      const description = direction === 'request' ? describe(node) : {};
      const siblings = siblingsCount ? { ...objectSchema(node, within), ...names } : description;
      return nullable(node, { ...refer(reference, within.open), ...siblings }, stands);
    }

    /** What members of `allOf`, and what stands beside them, have to know of each other; and what only all of them together can say. */
    function membersOf(node: JsonObject, around: Around): { within: Around; names?: JsonObject } {
      const combines = Array.isArray(own(node, 'allOf')) || (siblingsCount && own(node, '$ref') !== undefined && saysProperties(node));
      if (!combines) return { within: around };
      const family = familyOf(document, node);
      const hidden = family.hidden(hides);
      const gone = hidden.size === 0 ? around.gone : new Set([...hidden, ...around.gone]);
      if (around.open || !refusesOthers(document, family)) return { within: { ...around, gone } };
      warnOfMembers();
      const listed = direction === 'request' ? onlyNames(family)?.filter((name) => !gone.has(name)) : undefined;
      return { within: { gone, open: true }, ...(listed === undefined ? {} : { names: { propertyNames: { enum: listed } } }) };
    }

    function objectSchema(node: JsonObject, around: Around): JsonObject {
      const entries: [string, Json][] = [];
      for (const [keyword, value] of Object.entries(node)) {
        const translated = keywordOf(keyword, value, node, around);
        if (translated !== undefined) entries.push(...Object.entries(translated));
      }
      return Object.fromEntries(entries);
    }

    function keywordOf(keyword: string, value: Json, node: JsonObject, around: Around): JsonObject | undefined {
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
    }

    function structural(keyword: string, value: Json, around: Around): JsonObject | undefined {
      // A list of items was a tuple before 2020-12.
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
        if (pattern === undefined) warn(`The pattern ${cut(name, 200)} is no regular expression of ECMAScript; it is left out`);
        return pattern === undefined ? [] : [[pattern, schemaOf(inner, 'inside')]];
      });
      return Object.fromEntries(legal);
    }

    function tuple(value: Json): JsonObject | undefined {
      const items = listAt(value);
      return items.length === 0 ? undefined : { prefixItems: items.map((item) => schemaOf(item, 'inside')) };
    }

    const schema = schemaOf(root, 'beside', around);
    return { schema, references };
  }

  /** Once: the generators that write such schemas write them all alike. */
  function warnOfMembers(): void {
    if (warnedOfMembers) return;
    warnedOfMembers = true;
    const [where] = [...underWay].slice(-1).map((read) => document.shown(read.replace(openly, '')));
    warn(
      `additionalProperties in a part of allOf would refuse what the other parts describe (${where ?? 'in its body'}); ` +
        'it is not applied to them, here and wherever else it stands so',
    );
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

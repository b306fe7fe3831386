import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { isClosed } from './closed-members.ts';
import { definitionName } from './definition-name.ts';
import { familyOf } from './family.ts';
import { describe } from './leaf-keyword.ts';
import { own, type Node } from '../../documents/node.ts';
import { nullable, type Position } from './nullable.ts';
import type { OpenDocument } from './open-document.ts';
import { alone, type Around, type Direction } from './schema-around.ts';
import { createSchemaKeyword } from './schema-keyword.ts';
import { createSchemaMembers, siblingsCount } from './schema-members.ts';

/** A schema translated to JSON Schema 2020-12, with the references of the document that it uses. */
export interface Translated {
  schema: JsonObject | boolean;
  references: ReadonlySet<string>;
}

/** A schema that others refer to. */
export interface Definition {
  name: string;
  schema: JsonObject | boolean;
  references: ReadonlySet<string>;
  /** The length of the schema as JSON. */
  size: number;
}

export interface SchemaTranslator {
  translate(node: Node): Translated;
  definition(reference: string): Definition;
}

interface TranslatorInput {
  document: OpenDocument;
  direction: Direction;
  warn(message: string): void;
}

/** Prefix of a reference whose target is translated as a member of `allOf`: such a schema has two translations. */
const openly = 'open ';

/**
 * [OAS-3] Translates schemas of every version of OpenAPI. References stay references, so that cycles are harmless and nothing is copied.
 * Their targets are translated once for the whole document.
 */
export function createSchemaTranslator({ document, direction, warn }: TranslatorInput): SchemaTranslator {
  const definitions = new Map<string, Definition>();
  /** The references being translated: a schema that leads to itself without descending into the value would be validated forever. */
  const underWay = new Set<string>();
  const membersOf = createSchemaMembers({ document, direction, warn, current });

  function current(): string | undefined {
    const read = [...underWay].at(-1);
    return read === undefined ? undefined : document.shown(read.replace(openly, ''));
  }

  function definition(read: string): Definition {
    const known = definitions.get(read);
    if (known !== undefined) return known;
    underWay.add(read);
    const open = read.startsWith(openly);
    const reference = open ? read.slice(openly.length) : read;
    try {
      const target = document.find(reference);
      if (target === undefined) warn(`${document.shown(reference)} is not in the document; any value is accepted in its place`);
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
    /** How many levels into the value the current schema is. */
    let depth = 0;
    const keywordOf = createSchemaKeyword({ document, direction, warn, schemaOf });

    function refer(written: string, open: boolean): JsonObject {
      const inPlace = depth === 0;
      const reference = open && isClosed(familyOf(document, document.find(written))) ? `${openly}${written}` : written;
      if (inPlace && underWay.has(reference)) {
        warn(`${document.shown(written)} refers to nothing but itself; any value is accepted in its place`);
        return {};
      }
      // Throws here if the reference leads to another document, and finds cycles.
      if (inPlace) definition(reference);
      references.add(reference);
      return { $ref: `#/$defs/${definitionName(reference)}` };
    }

    function schemaOf(node: Node, position: Position, around = alone): JsonObject | boolean {
      if (position !== 'inside') return schemaAt(node, position, around);
      depth++;
      const schema = schemaAt(node, position, around);
      depth--;
      return schema;
    }

    function schemaAt(node: Node, position: Position, around: Around): JsonObject | boolean {
      if (typeof node === 'boolean') return node;
      if (!isObject(node)) {
        warn(`There is ${Array.isArray(node) ? 'a list' : 'a value'} where a schema should be; any value is accepted in its place`);
        return {};
      }
      const reference = own(node, '$ref');
      const { within, names } = membersOf(node, around);
      if (typeof reference !== 'string') return nullable(node, { ...objectSchema(node, within), ...names }, position);
      const description = direction === 'request' ? describe(node) : {};
      const siblings = siblingsCount(document) ? { ...objectSchema(node, within), ...names } : description;
      return nullable(node, { ...refer(reference, within.open), ...siblings }, position);
    }

    function objectSchema(node: JsonObject, around: Around): JsonObject {
      const entries: [string, Json][] = [];
      for (const [keyword, value] of Object.entries(node)) {
        const translated = keywordOf(keyword, value, node, around);
        if (translated !== undefined) entries.push(...Object.entries(translated));
      }
      return Object.fromEntries(entries);
    }

    return { schema: schemaOf(root, 'beside', around), references };
  }

  return { translate, definition };
}

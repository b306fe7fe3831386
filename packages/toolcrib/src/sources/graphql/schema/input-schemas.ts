import type { Json, JsonObject } from '../../../model/json.ts';
import { cut } from '../../documents/node.ts';
import { isUpload, scalarSchema } from './scalar-schema.ts';
import { isName, isNonNull, isRequired, itemType, nullable, type SchemaField, type SchemaType, type TypeTable } from './type-table.ts';
import { Unusable } from '../../documents/unusable.ts';

const longestDescription = 1000;
/** The most values of one enum. A longer enum accepts any string. */
const mostValues = 1000;
const mostFields = 2000;

interface Definition {
  schema: JsonObject;
  /** Names of the types that the schema refers to. */
  references: ReadonlySet<string>;
  size: number;
}

/** A schema, and the names of the types in `$defs` that it refers to. */
interface Translated {
  schema: JsonObject;
  references: ReadonlySet<string>;
}

export interface InputSchemas {
  /** The schema of an argument or of an input's field. Throws `Unusable` if no value can be given for it. */
  translate(field: SchemaField): Translated;
  /** The definition of an input or an enum. */
  definition(name: string): Definition;
}

/** JSON Schemas for arguments. Inputs and enums are definitions, so that they may refer to themselves. */
export function createInputSchemas({ types }: TypeTable, warn: (message: string) => void): InputSchemas {
  const definitions = new Map<string, Definition>();

  function typeSchema(type: string, references: Set<string>): JsonObject {
    const inner = itemType(type);
    const plain = inner === undefined ? namedSchema(nullable(type), references) : { type: 'array', items: typeSchema(inner, references) };
    return isNonNull(type) ? plain : orNull(plain);
  }

  function namedSchema(name: string, references: Set<string>): JsonObject {
    const type = types.get(name);
    if (type === undefined) throw new Unusable(`The schema has no type ${JSON.stringify(name.slice(0, 100))}`);
    if (isUpload(type)) throw new Unusable('Files cannot be sent to GraphQL services');
    switch (type.kind) {
      case 'scalar':
        return scalarSchema(type);
      case 'enum':
      case 'input':
        references.add(name);
        return { $ref: `#/$defs/${name}` };
      case 'object':
      case 'interface':
      case 'union':
        throw new Unusable(`${name} is not an input type`);
    }
  }

  function translate(field: SchemaField): Translated {
    if (!isName(field.name)) throw new Unusable('Its name is not a valid GraphQL name');
    const references = new Set<string>();
    const schema = typeSchema(field.type, references);
    const words = wordsOf(field);
    return {
      schema: {
        ...schema,
        ...(words === '' ? {} : { description: words }),
        ...(field.default === undefined ? {} : { default: field.default }),
        ...(field.deprecated === null ? {} : { deprecated: true }),
      },
      references,
    };
  }

  function define(type: SchemaType): Definition {
    const { schema, references } = type.kind === 'enum' ? { schema: enumSchema(type), references: new Set<string>() } : inputSchema(type);
    return { schema, references, size: JSON.stringify(schema).length + type.name.length };
  }

  /** Leaves out fields that cannot be given. */
  function inputSchema(type: SchemaType): Translated {
    const properties: [string, Json][] = [];
    const references = new Set<string>();
    const required: string[] = [];
    for (const field of [...type.fields.values()].slice(0, mostFields)) {
      try {
        const { schema, references: further } = translate(type.oneOf ? { ...field, type: `${nullable(field.type)}!` } : field);
        properties.push([field.name, schema]);
        for (const name of further) references.add(name);
        if (!type.oneOf && isRequired(field)) required.push(field.name);
      } catch (error) {
        if (!(error instanceof Unusable)) throw error;
        // Even if it is required: the service then reports it, and the rest of the input stays usable.
        warn(`The field ${cut(field.name, 100)} of the input ${type.name} is left out: ${error.message}`);
      }
    }
    const schema: JsonObject = {
      type: 'object',
      ...(type.description.trim() === '' ? {} : { description: cut(type.description.trim(), longestDescription) }),
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
      ...(type.oneOf ? { minProperties: 1, maxProperties: 1 } : {}),
    };
    return { schema, references };
  }

  return {
    translate,
    definition(name) {
      let found = definitions.get(name);
      const type = types.get(name);
      if (type === undefined) throw new Unusable(`The schema has no type ${name}`);
      if (found === undefined) definitions.set(name, (found = define(type)));
      return found;
    },
  };
}

function enumSchema({ name, description, values }: SchemaType): JsonObject {
  const documented = values.filter((value) => value.description.trim() !== '' || value.deprecated !== null);
  const isShort = documented.length > 0 && values.length <= 20;
  const words = [description.trim(), ...(isShort ? documented.map(valueWords) : [])].filter((part) => part !== '').join('\n');
  const described: JsonObject = words === '' ? {} : { description: cut(words, longestDescription) };
  if (values.length > mostValues || values.length === 0)
    return {
      type: 'string',
      description: cut(`One of the ${values.length} values of ${name}. ${description.trim()}`.trim(), longestDescription),
    };
  return { type: 'string', ...described, enum: values.map((value) => value.name) };
}

function valueWords({ name, description, deprecated }: SchemaType['values'][number]): string {
  const words = [description.trim(), deprecated === null ? '' : `Deprecated. ${deprecated}`.trim()].filter((part) => part !== '');
  return `${name}: ${words.join(' ')}`;
}

function wordsOf({ description, deprecated }: SchemaField): string {
  const words = [description.trim(), deprecated === null ? '' : `Deprecated. ${deprecated.trim()}`.trim()];
  return cut(words.filter((part) => part !== '').join('\n'), longestDescription);
}

/** An explicit null means "no value", which is different from leaving the value out. */
function orNull(schema: JsonObject): JsonObject {
  const { type } = schema;
  if (type === undefined) return Object.hasOwn(schema, '$ref') ? { anyOf: [schema, { type: 'null' }] } : schema;
  const types = [type].flat() as string[];
  return types.includes('null') ? schema : { ...schema, type: [...types, 'null'] };
}

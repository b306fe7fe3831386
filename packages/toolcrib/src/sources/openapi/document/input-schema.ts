import type { HttpParameter } from '../../../model/http-operation.ts';
import type { Json, JsonObject, JsonSchema } from '../../../model/json.ts';
import { definitionsFor, nearestDefinitions } from './definitions.ts';
import { cut, isObject } from './node.ts';
import type { FoundParameter } from './parameters.ts';
import type { FoundBody } from './request-body.ts';
import type { SchemaTranslator, Translated } from './schema-translator.ts';
import { Unusable } from './unusable.ts';

const largest = 512 * 1024;
const large = 128 * 1024;
const longestDescription = 2000;

interface InputParts {
  parameters: readonly FoundParameter[];
  /** The same, in the same order. */
  names: readonly HttpParameter['argument'][];
  body: FoundBody | null;
}

/** [OAS-2] [OAS-3] What a tool takes: one argument for each parameter and one for the body, with all definitions that are reached. */
export function inputSchema(
  translator: SchemaTranslator,
  { parameters, names, body }: InputParts,
  warn: (message: string) => void,
): JsonSchema {
  const references = new Set<string>();
  const required: string[] = [];
  const properties: [string, Json][] = [];

  function add(name: string, isRequired: boolean, translated: Translated, description: string | undefined): void {
    for (const reference of translated.references) references.add(reference);
    if (isRequired) required.push(name);
    properties.push([name, described(translated.schema, description)]);
  }

  for (const [index, parameter] of parameters.entries()) {
    const argument = names[index] ?? parameter.name;
    add(argument, parameter.required, translator.translate(parameter.schema), parameterDescription(parameter, argument));
  }
  if (body !== null) add(body.body.argument, body.body.required, bodySchema(translator, body), body.description);

  let definitions = definitionsFor(translator, references, largest);
  if (definitions === undefined) {
    warn(`Its arguments take more than ${largest / 1024} KiB to describe; anything goes in the deepest parts of them`);
    definitions = nearestDefinitions(translator, references, large);
  }
  const schema: JsonObject = { type: 'object', properties: Object.fromEntries(properties) };
  if (required.length > 0) schema['required'] = required;
  schema['additionalProperties'] = false;
  if (Object.keys(definitions).length > 0) schema['$defs'] = definitions;
  if (JSON.stringify(schema).length > largest) throw tooLarge();
  return schema;
}

function tooLarge(): Unusable {
  return new Unusable(`Its arguments take more than ${largest / 1024} KiB to describe`);
}

function parameterDescription({ name, in: place, description }: FoundParameter, argument: string): string | undefined {
  if (argument === name) return description;
  const sent = `Sent as ${place === 'path' ? 'the part' : `the ${place}`} ${JSON.stringify(name)}${place === 'path' ? ' of the path' : ''}.`;
  return description === undefined ? sent : `${cut(description, longestDescription)}\n${sent}`;
}

function bodySchema(translator: SchemaTranslator, { body, schema, encoded }: FoundBody): Translated {
  const translated = translator.translate(schema);
  switch (body.kind) {
    case 'json':
    case 'form':
      return translated;
    case 'text':
      return encoded || isTextSchema(translated)
        ? translated
        : { schema: { type: 'string', contentMediaType: body.content_type }, references: new Set() };
    case 'binary':
      return { schema: { type: 'string', contentEncoding: 'base64', contentMediaType: body.content_type }, references: new Set() };
    case 'multipart':
      return withFiles(translator, translated, body.encoding);
  }
}

function isTextSchema({ schema }: Translated): boolean {
  return isObject(schema) && schema['type'] === 'string' && schema['contentEncoding'] === undefined;
}

const file: JsonObject = {
  anyOf: [
    { type: 'string', contentEncoding: 'base64' },
    {
      type: 'object',
      properties: {
        data: { type: 'string', contentEncoding: 'base64' },
        filename: { type: 'string' },
        content_type: { type: 'string', pattern: '^[\\w.+-]+/[\\w.+-]+' },
      },
      required: ['data'],
      additionalProperties: false,
    },
  ],
};

/** A file may come with its name and type, which means that the object around it stands here, and not among the definitions. */
function withFiles(translator: SchemaTranslator, translated: Translated, encoding: FoundBody['body']['encoding']): Translated {
  const reference = translated.references.size === 1 ? [...translated.references][0] : undefined;
  const isReference = isObject(translated.schema) && typeof translated.schema['$ref'] === 'string';
  const { schema, references } = isReference && reference !== undefined ? translator.definition(reference) : translated;
  if (!isObject(schema) || !isObject(schema['properties'])) return translated;
  const properties = Object.entries(schema['properties']).map(([name, property]): [string, Json] => {
    if (!Object.hasOwn(encoding, name) || encoding[name]?.binary !== true) return [name, property];
    const { description, type } = isObject(property) ? property : {};
    const made = type === 'array' ? { type, items: file } : file;
    return [name, typeof description === 'string' ? { ...made, description } : made];
  });
  return { schema: { ...schema, properties: Object.fromEntries(properties) }, references };
}

/** The words of the parameter go before those of its schema. */
function described(schema: JsonObject | boolean, description: string | undefined): JsonObject | boolean {
  if (description === undefined) return schema === true ? {} : schema;
  return { ...(isObject(schema) ? schema : schema ? {} : { not: {} }), description: cut(description, longestDescription) };
}

import type { HttpParameter, HttpRequestBody } from '../../../model/http-operation.ts';
import { isObject, type Json, type JsonObject, type JsonSchema } from '../../../model/json.ts';
import { bodySchema } from './body-schema.ts';
import { definitionsFor, nearestDefinitions } from './definitions.ts';
import { cut } from '../../documents/node.ts';
import type { FoundParameter } from './parameters.ts';
import type { FoundBody } from './request-body.ts';
import type { SchemaTranslator, Translated } from './schema-translator.ts';
import { Unusable } from '../../documents/unusable.ts';

const largest = 512 * 1024;
const large = 128 * 1024;
const longestDescription = 2000;

interface InputParts {
  parameters: readonly FoundParameter[];
  /** The argument names of the parameters, in the same order. */
  names: readonly HttpParameter['argument'][];
  body: FoundBody | null;
  /** How the body is sent. */
  sent: HttpRequestBody | null;
}

/** [OAS-2] [OAS-3] The input schema of a tool: one argument for each parameter and one for the body, with all reachable definitions. */
export function inputSchema(
  translator: SchemaTranslator,
  { parameters, names, body, sent }: InputParts,
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
  if (body !== null && sent !== null) {
    add(sent.argument, body.required, bodySchema(translator, body.forms), body.description);
    if (sent.choice !== undefined) add(sent.choice.argument, false, choiceSchema(sent.choice.forms), choiceDescription(sent.argument));
  }

  let definitions = definitionsFor(translator, references, largest);
  if (definitions === undefined) {
    warn(`The input schema takes more than ${largest / 1024} KiB; its deepest parts accept any value`);
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
  return new Unusable(`The input schema takes more than ${largest / 1024} KiB`);
}

function parameterDescription({ name, in: place, description }: FoundParameter, argument: string): string | undefined {
  if (argument === name) return description;
  const sent = `Sent as ${place === 'path' ? 'the part' : `the ${place}`} ${JSON.stringify(name)}${place === 'path' ? ' of the path' : ''}.`;
  return description === undefined ? sent : `${cut(description, longestDescription)}\n${sent}`;
}

function choiceSchema(forms: readonly { content_type: string }[]): Translated {
  return { schema: { type: 'string', enum: forms.map(({ content_type }) => content_type) }, references: new Set() };
}

function choiceDescription(argument: string): string {
  return `The media type of ${argument}; unless given, the first of them that fits it`;
}

/** The description of the parameter overrides that of its schema. */
function described(schema: JsonObject | boolean, description: string | undefined): JsonObject | boolean {
  if (description === undefined) return schema === true ? {} : schema;
  return { ...(isObject(schema) ? schema : schema ? {} : { not: {} }), description: cut(description, longestDescription) };
}

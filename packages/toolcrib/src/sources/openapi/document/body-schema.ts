import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { FoundForm } from './body-forms.ts';
import type { SchemaTranslator, Translated } from './schema-translator.ts';

/** [OAS-2] The schema of a body: any value that one of its media types takes. */
export function bodySchema(translator: SchemaTranslator, forms: readonly FoundForm[]): Translated {
  const each = new Map(forms.map((form) => formSchema(translator, form)).map((one) => [JSON.stringify(one.schema), one]));
  const [only, ...more] = each.values();
  if (only === undefined || more.length === 0) return only ?? { schema: {}, references: new Set() };
  const all = [only, ...more];
  return {
    schema: { anyOf: all.map(({ schema }) => schema) },
    references: new Set(all.flatMap(({ references }) => Array.from(references))),
  };
}

function formSchema(translator: SchemaTranslator, { kind, schema, content_type, described, encoding }: FoundForm): Translated {
  const translated = translator.translate(schema);
  switch (kind) {
    case 'json':
    case 'form':
      return translated;
    case 'text':
      return described || isTextSchema(translated)
        ? translated
        : { schema: { type: 'string', contentMediaType: content_type }, references: new Set() };
    case 'binary':
      return { schema: { type: 'string', contentEncoding: 'base64', contentMediaType: content_type }, references: new Set() };
    case 'multipart':
      return withFiles(translator, translated, encoding);
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

/** Lets callers give a file with its name and type. The object around the file is inlined: its definition knows only bytes. */
function withFiles(translator: SchemaTranslator, translated: Translated, encoding: FoundForm['encoding']): Translated {
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

import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { canonicalJson } from '../model/canonical-json.ts';
import type { JsonSchema } from '../model/json.ts';
import { compileSearchRegex } from '../policy/safe-regex.ts';

/** Schemas come from servers we do not control: as lenient as JSON Schema, and with regular expressions that run in linear time. */
const options: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  // Ignores inherited properties: a parameter may be called `constructor`.
  ownProperties: true,
  // Inlining would compile a referenced part again for each reference.
  inlineRefs: false,
  code: { regExp: Object.assign(safePattern, { code: 'safePattern' }) },
};

/** Ajv shares expressions whose `toString` is equal. */
function safePattern(pattern: string): { test(input: string): boolean; toString(): string } {
  return { test: compileSearchRegex(pattern), toString: () => pattern };
}

function createAjv(dialect: typeof Ajv, extra: Options = {}): Ajv {
  const ajv = new dialect({ ...options, ...extra });
  // Ajv compares every item with every other: a caller could block the server with a long list.
  return ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not contain the same item twice' },
    compile: (wanted: boolean) => (items: unknown[]) => !wanted || new Set(items.map(canonicalJson)).size === items.length,
  });
}

/** 2020-12 unless the schema says otherwise; drafts before 07 are read as 07, which is close to all of them. */
function dialectOf(schema: JsonSchema): typeof Ajv {
  const { $schema: named } = schema;
  if (typeof named !== 'string') return Ajv2020;
  if (named.includes('/draft-0')) return Ajv;
  return named.includes('/2019-09/') ? Ajv2019 : Ajv2020;
}

/** Compiles schemas, with one Ajv instance per dialect. */
export function createSchemaCompiler(): (schema: JsonSchema) => ValidateFunction {
  const shared = new Map<typeof Ajv, Ajv>();

  return (given) => {
    const dialect = dialectOf(given);
    // `$async` would make Ajv return a promise whose rejection nobody handles; an unknown `$schema` would be an error.
    const { $schema: _dialect, $async: _async, ...schema } = given;
    const ajv = shared.get(dialect) ?? createAjv(dialect);
    shared.set(dialect, ajv);
    if (!/"\$(id|anchor|dynamicAnchor|recursiveAnchor)"/.test(JSON.stringify(schema))) return ajv.compile(schema);
    // Compiled separately: in the shared instance, the schema of another source could refer to it by its `$id` or anchor.
    void ajv.validateSchema(schema, true);
    return createAjv(dialect, { meta: false, validateSchema: false }).compile(schema);
  };
}

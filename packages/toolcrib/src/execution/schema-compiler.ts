import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { canonicalJson } from '../inventory/definition-hash.ts';
import type { JsonSchema } from '../model/json.ts';
import { compileSearchRegex } from '../policy/safe-regex.ts';

/** Schemas come from tool servers we do not control: lenient where JSON Schema is, and no expression that could run for ever. */
const options: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  // A parameter may be called `constructor`; what every object inherits is neither given nor wrong.
  ownProperties: true,
  // A part that many places refer to would be compiled again for each of them.
  inlineRefs: false,
  code: { regExp: Object.assign(safePattern, { code: 'safePattern' }) },
};

/** Ajv takes two expressions for one when their `toString` agrees. */
function safePattern(pattern: string): { test(input: string): boolean; toString(): string } {
  return { test: compileSearchRegex(pattern), toString: () => pattern };
}

function createAjv(dialect: typeof Ajv, extra: Options = {}): Ajv {
  const ajv = new dialect({ ...options, ...extra });
  // Ajv compares every item with every other, which a caller with a long list could use to hold everybody up.
  return ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have the same item twice' },
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

/** Compiles schemas; keeps what it has made for the next one, until it is forgotten itself. */
export function createSchemaCompiler(): (schema: JsonSchema) => ValidateFunction {
  const shared = new Map<typeof Ajv, Ajv>();

  return (given) => {
    const dialect = dialectOf(given);
    // `$async` would make Ajv answer with a promise whose rejection nobody hears; a `$schema` it does not know would be an error.
    const { $schema: _dialect, $async: _async, ...schema } = given;
    const ajv = shared.get(dialect) ?? createAjv(dialect);
    shared.set(dialect, ajv);
    if (!/"\$(id|anchor|dynamicAnchor|recursiveAnchor)"/.test(JSON.stringify(schema))) return ajv.compile(schema);
    // A schema that names itself would be found again by another source's schema of the same name, so it is compiled on its own.
    void ajv.validateSchema(schema, true);
    return createAjv(dialect, { meta: false, validateSchema: false }).compile(schema);
  };
}

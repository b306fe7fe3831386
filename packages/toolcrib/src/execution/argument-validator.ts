import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { canonicalJson } from '../inventory/definition-hash.ts';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject, JsonSchema } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { compileSearchRegex } from '../policy/safe-regex.ts';

export interface ArgumentValidator {
  /** Throws `VALIDATION_ERROR` naming the field when the arguments do not fit the tool's input schema. */
  check(tool: Tool, args: JsonObject): void;
}

/** Schemas come from tool servers we do not control: lenient where JSON Schema is, and no expression that could run for ever. */
const options: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  // A parameter may be called `constructor`; what every object inherits is neither given nor wrong.
  ownProperties: true,
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

/** Compiled on first use, and kept for the most recently used definitions only: each costs about a millisecond and some memory. */
export function createArgumentValidator({ maxCompiled = 2000 }: { maxCompiled?: number } = {}): ArgumentValidator {
  const shared = new Map<typeof Ajv, Ajv>();
  const compiled = new Map<string, ValidateFunction>();
  const byTool = new WeakMap<Tool, ValidateFunction>();

  function compile(given: JsonSchema): ValidateFunction {
    const dialect = dialectOf(given);
    // `$async` would make Ajv answer with a promise whose rejection nobody hears; a `$schema` it does not know would be an error.
    const { $schema: _dialect, $async: _async, ...schema } = given;
    const ajv = shared.get(dialect) ?? createAjv(dialect);
    shared.set(dialect, ajv);
    if (!/"\$(id|anchor|dynamicAnchor|recursiveAnchor)"/.test(JSON.stringify(schema))) return ajv.compile(schema);
    // A schema that names itself would be found again by another source's schema of the same name, so it is compiled on its own.
    void ajv.validateSchema(schema, true);
    return createAjv(dialect, { meta: false, validateSchema: false }).compile(schema);
  }

  function validatorFor(tool: Tool): ValidateFunction {
    let validate = byTool.get(tool) ?? compiled.get(tool.definition_hash);
    if (validate === undefined) {
      try {
        validate = compile(tool.definition.input_schema);
      } catch (error) {
        throw new CribError('SERVICE_UNAVAILABLE', `The input schema of ${tool.name} cannot be used: ${(error as Error).message}`, {
          retryable: false,
          cause: error,
        });
      }
      if (compiled.size >= maxCompiled) {
        compiled.clear();
        shared.clear();
      }
      compiled.set(tool.definition_hash, validate);
    }
    byTool.set(tool, validate);
    return validate;
  }

  return {
    check(tool, args) {
      const validate = validatorFor(tool);
      if (fits(validate, args)) return;
      const [first] = validate.errors ?? [];
      if (first === undefined) throw new CribError('VALIDATION_ERROR', 'The arguments do not fit the tool', { field: 'arguments' });
      throw new CribError('VALIDATION_ERROR', `${fieldOf(first)} ${reasonOf(first)}`, { field: fieldOf(first) });
    },
  };
}

function fits(validate: ValidateFunction, args: JsonObject): boolean {
  try {
    return validate(args);
  } catch (error) {
    // A schema that refers to itself is followed as deep as the arguments go.
    if (error instanceof RangeError) throw new CribError('VALIDATION_ERROR', 'arguments are nested too deeply', { field: 'arguments' });
    throw error;
  }
}

function fieldOf(error: ErrorObject): string {
  const segments = error.instancePath.split('/').slice(1).map(unescapePointer);
  const missing = error.keyword === 'required' ? error.params['missingProperty'] : undefined;
  const last: unknown = missing ?? error.params['additionalProperty'] ?? error.params['unevaluatedProperty'];
  return ['arguments', ...segments, ...(typeof last === 'string' ? [last] : [])].join('.').slice(0, 500);
}

function reasonOf(error: ErrorObject): string {
  if (error.keyword === 'required') return 'is required';
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') return 'is not a parameter of this tool';
  if (error.keyword === 'enum') return `must be one of ${JSON.stringify(error.params['allowedValues']).slice(0, 500)}`;
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params['allowedValue']).slice(0, 500)}`;
  return error.message ?? 'does not fit the schema';
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

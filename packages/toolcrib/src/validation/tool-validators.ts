import type { ValidateFunction } from 'ajv';
import type { ToolOutput } from '../model/call.ts';
import { CribError } from '../model/crib-error.ts';
import type { Json, JsonObject, JsonSchema } from '../model/json.ts';
import { ValidationError } from '../model/named-errors.ts';
import type { Tool } from '../model/tool.ts';
import { argumentFault, tooDeep, type ArgumentFault } from './argument-fault.ts';
import { createSchemaCompiler } from './schema-compiler.ts';
import { fieldOf, reasonOf } from './schema-error.ts';
import { schemaSize, tooLarge } from './schema-size.ts';
import { createSchemaThreads } from './schema-threads.ts';
import { createSchemaWork, mostSizeHere, mostWorkHere } from './schema-work.ts';

export interface ArgumentValidator {
  /**
   * Throws `VALIDATION_ERROR` naming the field if the arguments do not match the tool's input schema. Returns a promise only if the check
   * may be so expensive that it runs on another thread.
   */
  check(tool: Tool, args: JsonObject, caller: string): Promise<void> | undefined;
  /** Why the schema of the tool is unusable, so that nobody can call it; undefined if it is usable or was not tried yet. */
  unusable(tool: Tool): string | undefined;
  close(): Promise<void>;
}

interface ArgumentValidatorInput {
  maxCompiled?: number;
  timeLimitMs?: number | undefined;
  mostWaiting?: number;
  /** Called once for each unusable schema. */
  onUnusable?: ((tool: Tool, reason: string) => void) | undefined;
  now?: () => number;
}

/** A schema small enough to be compiled on this thread. */
interface SchemaCheck {
  validate: ValidateFunction;
  workFor(value: Json, most: number): number;
}

/** What is known about an input schema. */
interface Known {
  here?: SchemaCheck;
  /** The schema as text, once another thread needed it. */
  text?: string;
  unusable?: { reason: string; until: number };
}

/** A schema that took too long to compile may have met a busy machine: it is retried after this time. */
const tryAgainMs = 60_000;

/** [EXEC-1] Cheap checks run at once; those with an expensive schema or expensive arguments run on threads with a time limit. */
export function createArgumentValidator({
  maxCompiled,
  timeLimitMs,
  mostWaiting,
  onUnusable,
  now = Date.now,
}: ArgumentValidatorInput = {}): ArgumentValidator {
  const pool = createSchemaThreads({ timeLimitMs, mostWaiting });
  const schemas = createSchemaCache<Known>({
    maxCompiled,
    isCompiled: ({ here }) => here !== undefined,
    make(tool, compile) {
      const { input_schema: schema } = tool.definition;
      const size = schemaSize(schema);
      const unusable = tooLarge(schema, size);
      if (unusable !== undefined) return refused(tool, {}, unusable, Infinity);
      if (size > mostSizeHere) return {};
      try {
        return { here: { validate: compile(schema), workFor: createSchemaWork(schema) } };
      } catch (error) {
        return refused(tool, {}, invalid((error as Error).message), Infinity);
      }
    },
  });

  function refused(tool: Tool, known: Known, reason: string, until: number): Known {
    known.unusable = { reason, until };
    onUnusable?.(tool, reason);
    return known;
  }

  function throwUnusable({ name }: Tool, { unusable }: Known): void {
    if (unusable === undefined || unusable.until < now()) return;
    throw new CribError('SERVICE_UNAVAILABLE', `Nobody can call ${name}: its input schema ${unusable.reason}`, {
      retryable: false,
      origin: 'source',
    });
  }

  async function checkElsewhere(tool: Tool, known: Known, args: string, caller: string): Promise<void> {
    known.text ??= JSON.stringify(tool.definition.input_schema);
    const outcome = await pool.run({ hash: tool.definition_hash, schema: known.text, args }, caller);
    if ('unusable' in outcome) refused(tool, known, invalid(outcome.unusable), Infinity);
    else if ('stopped' in outcome && !outcome.begunAnew) refused(tool, known, tooLong, now() + tryAgainMs);
    else delete known.unusable;
    throwUnusable(tool, known);
    refuse('fault' in outcome ? outcome.fault : tooCostly);
  }

  return {
    check(tool, args, caller) {
      const known = schemas.of(tool);
      if (known.unusable !== undefined) throwUnusable(tool, known);
      const { here } = known;
      if (here !== undefined && here.workFor(args, mostWorkHere) <= mostWorkHere) {
        if (!passes(here.validate, args)) refuse(argumentFault(here.validate, args));
        return undefined;
      }
      return checkElsewhere(tool, known, written(args), caller);
    },
    unusable: (tool) => schemas.peek(tool)?.unusable?.reason,
    close: () => pool.close(),
  };
}

const tooLong = 'takes too much time or memory to compile';

const tooCostly: ArgumentFault = {
  field: 'arguments',
  message: 'arguments take too long to check against the schema of this tool: send fewer, or less deeply nested ones',
};

/** False also if a recursive schema overflows the stack: `argumentFault` tells the two apart. */
function passes(validate: ValidateFunction, args: JsonObject): boolean {
  try {
    return validate(args);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function refuse(fault: ArgumentFault | undefined): void {
  if (fault !== undefined) throw new ValidationError(fault.message, { field: fault.field });
}

function written(args: JsonObject): string {
  try {
    return JSON.stringify(args);
  } catch (error) {
    if (error instanceof RangeError) refuse(tooDeep);
    throw error;
  }
}

function invalid(message: string): string {
  return `is not valid: ${message.slice(0, 500)}`;
}

export interface OutputValidator {
  /** [MCP-7] How an answer violates its tool's output schema; undefined if it does not, or if checking would be too expensive. */
  violation(tool: Tool, output: ToolOutput): string | undefined;
}

const notChecked = 'not checked';

export function createOutputValidator(): OutputValidator {
  const checks = createSchemaCache<SchemaCheck | typeof notChecked>({
    isCompiled: (check) => check !== notChecked,
    make({ definition: { output_schema: schema = {} } }, compile) {
      if (schemaSize(schema) > mostSizeHere) return notChecked;
      try {
        return { validate: compile(schema), workFor: createSchemaWork(schema) };
      } catch {
        // An output schema is only advice: an invalid one is ignored.
        return notChecked;
      }
    },
  });

  return {
    violation(tool, { structured_content: structured, is_error }) {
      // The output of the built-in tools is checked by tests.
      if (tool.definition.output_schema === undefined || is_error === true || tool.execution_mode === 'builtin') return undefined;
      if (structured === undefined || structured === null) return 'there is no structured content';
      const check = checks.of(tool);
      if (check === notChecked || check.workFor(structured, mostWorkHere) > mostWorkHere || check.validate(structured)) return undefined;
      const [first] = check.validate.errors ?? [];
      return first === undefined
        ? 'it does not match'
        : `${fieldOf(first, 'structured_content')} ${reasonOf(first, 'is not in the schema')}`;
    },
  };
}

interface SchemaCacheInput<Made> {
  /** Called once for each definition, and again where it was forgotten. */
  make(tool: Tool, compile: (schema: JsonSchema) => ValidateFunction): Made;
  /** Whether something compiled belongs to it. */
  isCompiled(made: Made): boolean;
  maxCompiled?: number | undefined;
}

interface SchemaCache<Made> {
  of(tool: Tool): Made;
  /** Undefined if nothing has been made yet. */
  peek(tool: Tool): Made | undefined;
}

/**
 * Compiles on first use: each schema costs about a millisecond and some memory, which the compiler holds too. So there are two generations,
 * each with its own compiler, and the older one is dropped when the newer is full. What is still used is compiled once more by then.
 */
function createSchemaCache<Made>({ make, isCompiled, maxCompiled = 2000 }: SchemaCacheInput<Made>): SchemaCache<Made> {
  const mostYoung = Math.max(1, Math.floor(maxCompiled / 2));
  let compile = createSchemaCompiler();
  let young = new Map<string, Made>();
  let old = new Map<string, Made>();

  return {
    of(tool) {
      const { definition_hash: hash } = tool;
      const known = young.get(hash);
      if (known !== undefined) return known;
      if (young.size >= mostYoung) {
        old = young;
        young = new Map();
        compile = createSchemaCompiler();
      }
      const aged = old.get(hash);
      const made = aged === undefined || isCompiled(aged) ? make(tool, compile) : aged;
      young.set(hash, made);
      return made;
    },
    peek: ({ definition_hash: hash }) => young.get(hash) ?? old.get(hash),
  };
}

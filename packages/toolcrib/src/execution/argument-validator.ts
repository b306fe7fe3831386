import type { ValidateFunction } from 'ajv';
import { schemaSize, tooLarge } from '../inventory/schema-size.ts';
import { CribError } from '../model/crib-error.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { ValidationError } from '../model/named-errors.ts';
import type { Tool } from '../model/tool.ts';
import { argumentFault, tooDeep, type ArgumentFault } from './argument-fault.ts';
import { createSchemaCache } from './schema-cache.ts';
import { createSchemaThreads } from './schema-threads.ts';
import { createSchemaWork, mostSizeHere, mostWorkHere } from './schema-work.ts';

export interface ArgumentValidator {
  /**
   * Throws `VALIDATION_ERROR` naming the field when the arguments do not fit the tool's input schema. A promise only where finding out may
   * cost so much that it is done on another thread.
   */
  check(tool: Tool, args: JsonObject, caller: string): Promise<void> | undefined;
  /** Why nobody can call the tool, where its schema turned out to be unusable. */
  unusable(tool: Tool): string | undefined;
  close(): Promise<void>;
}

interface ArgumentValidatorInput {
  maxCompiled?: number;
  timeLimitMs?: number | undefined;
  mostWaiting?: number;
  /** Told once of each schema that cannot be used. */
  onUnusable?: ((tool: Tool, reason: string) => void) | undefined;
  now?: () => number;
}

/** What is known of an input schema. */
interface Known {
  /** Where it is small enough to be compiled here. */
  here?: { validate: ValidateFunction; workFor: (args: Json, most: number) => number };
  /** As text, once it was needed on another thread. */
  text?: string;
  unusable?: { reason: string; until: number };
}

/** A schema that took too long to compile may have met a busy machine: after this time it is tried again. */
const tryAgainMs = 60_000;

/** [EXEC-1] Cheap checks are made here and now; what may be costly, by the schema or by the arguments, goes to threads with a time limit. */
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
        refuse(argumentFault(here.validate, args));
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

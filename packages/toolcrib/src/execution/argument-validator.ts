import type { ValidateFunction } from 'ajv';
import { CribError } from '../model/crib-error.ts';
import type { JsonObject } from '../model/json.ts';
import type { Tool } from '../model/tool.ts';
import { createSchemaCache } from './schema-cache.ts';
import { fieldOf, reasonOf } from './schema-error.ts';

export interface ArgumentValidator {
  /** Throws `VALIDATION_ERROR` naming the field when the arguments do not fit the tool's input schema. */
  check(tool: Tool, args: JsonObject): void;
}

export function createArgumentValidator({ maxCompiled }: { maxCompiled?: number } = {}): ArgumentValidator {
  const validatorFor = createSchemaCache({
    maxCompiled,
    make(tool, compile) {
      try {
        return compile(tool.definition.input_schema);
      } catch (error) {
        throw new CribError('SERVICE_UNAVAILABLE', `The input schema of ${tool.name} cannot be used: ${(error as Error).message}`, {
          retryable: false,
          cause: error,
        });
      }
    },
  });

  return {
    check(tool, args) {
      const validate = validatorFor(tool);
      if (fits(validate, args)) return;
      const [first] = validate.errors ?? [];
      if (first === undefined) throw new CribError('VALIDATION_ERROR', 'The arguments do not fit the tool', { field: 'arguments' });
      const field = fieldOf(first, 'arguments');
      throw new CribError('VALIDATION_ERROR', `${field} ${reasonOf(first, 'is not a parameter of this tool')}`, { field });
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

import type { ValidateFunction } from 'ajv';
import type { JsonObject } from '../model/json.ts';
import { fieldOf, reasonOf } from './schema-error.ts';

/** What is wrong with the arguments of a call. */
export interface ArgumentFault {
  field: string;
  message: string;
}

export const tooDeep: ArgumentFault = { field: 'arguments', message: 'arguments are nested too deeply' };

/** Undefined where they fit. The same words, whichever thread finds them. */
export function argumentFault(validate: ValidateFunction, args: JsonObject): ArgumentFault | undefined {
  try {
    if (validate(args)) return undefined;
  } catch (error) {
    // A schema that refers to itself is followed as deep as the arguments go.
    if (error instanceof RangeError) return tooDeep;
    throw error;
  }
  const [first] = validate.errors ?? [];
  if (first === undefined) return { field: 'arguments', message: 'The arguments do not fit the tool' };
  const field = fieldOf(first, 'arguments');
  return { field, message: `${field} ${reasonOf(first, 'is not a parameter of this tool')}` };
}

import type { ErrorObject, ValidateFunction } from 'ajv';
import { editDistance } from '../model/edit-distance.ts';
import type { JsonObject, JsonSchema } from '../model/json.ts';
import { nearestMisfit } from './misfit.ts';
import { fieldOf, reasonOf } from './schema-error.ts';

/** What is wrong with the arguments of a call. */
export interface ArgumentFault {
  field: string;
  message: string;
}

export const tooDeep: ArgumentFault = { field: 'arguments', message: 'arguments are nested too deeply' };

const unknown = 'is not a parameter of this tool';
const shownName = 60;
const shownNames = 12;

/** Undefined if the arguments are valid. Used on all threads, so that messages are the same. */
export function argumentFault(validate: ValidateFunction, args: JsonObject): ArgumentFault | undefined {
  try {
    if (validate(args)) return undefined;
  } catch (error) {
    // A schema that refers to itself is followed as deep as the arguments go.
    if (error instanceof RangeError) return tooDeep;
    throw error;
  }
  const errors = validate.errors ?? [];
  const [first] = errors;
  if (first === undefined) return { field: 'arguments', message: 'arguments do not match the input schema of this tool' };
  const schema = validate.schema as JsonSchema;
  return formFault(errors, schema, args) ?? faultOf(first, schema, args);
}

function faultOf(error: ErrorObject, schema: JsonSchema, args: JsonObject): ArgumentFault {
  const field = fieldOf(error, 'arguments');
  return { field, message: `${field} ${reasonOf(error, unknown)}${error.instancePath === '' ? hint(error, schema, args) : ''}` };
}

/** If several forms are allowed, the first error is about the first form, which is rarely the intended one. */
function formFault(errors: readonly ErrorObject[], schema: JsonSchema, args: JsonObject): ArgumentFault | undefined {
  const union = errors.findLast(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf');
  if (union === undefined) return undefined;
  if (Array.isArray(union.params['passingSchemas'])) {
    const field = fieldOf(union, 'arguments');
    return { field, message: `${field} matches several of the allowed forms, but must match exactly one` };
  }
  const misfit = nearestMisfit(schema, args);
  if (misfit === undefined) return undefined;
  const field = ['arguments', ...misfit.path].join('.').slice(0, 500);
  return { field, message: `${field} ${misfit.reason}` };
}

/** A misspelt name is the most common mistake; it shows up as a missing or as an unknown parameter. */
function hint({ keyword, params }: ErrorObject, schema: JsonSchema, args: JsonObject): string {
  const { properties, patternProperties } = schema;
  if (typeof properties !== 'object' || properties === null || patternProperties !== undefined) return '';
  const known = Object.keys(properties);
  if (keyword === 'required') {
    const stranger = Object.keys(args).find((name) => !Object.hasOwn(properties, name));
    return stranger === undefined ? '' : `; arguments.${stranger.slice(0, shownName)} ${unknown}`;
  }
  const given: unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
  if (typeof given !== 'string' || known.length === 0) return '';
  const most = Math.max(1, Math.floor(Math.min(given.length, shownName) / 3));
  const meant = known.find((name) => editDistance(given.toLowerCase(), name.toLowerCase(), most) <= most);
  if (meant !== undefined) return `: did you mean ${meant.slice(0, shownName)}?`;
  const shown = known.slice(0, shownNames).map((name) => name.slice(0, shownName));
  return `: it takes ${shown.join(', ')}${known.length > shownNames ? ', …' : ''}`;
}

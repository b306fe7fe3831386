import { pointerTokens } from '../model/json-pointer.ts';
import type { ErrorObject } from 'ajv';

/** The path of the value that violates its schema, beginning with `root`. */
export function fieldOf(error: ErrorObject, root: string): string {
  const segments = pointerTokens(error.instancePath);
  const missing = error.keyword === 'required' ? error.params['missingProperty'] : undefined;
  const last: unknown = missing ?? error.params['additionalProperty'] ?? error.params['unevaluatedProperty'] ?? error.propertyName;
  return [root, ...segments, ...(typeof last === 'string' ? [last] : [])].join('.').slice(0, 500);
}

/** The violation, worded to follow the field; `unknown` is used for a field that the schema does not define. */
export function reasonOf(error: ErrorObject, unknown: string): string {
  if (error.keyword === 'required') return 'is required';
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') return unknown;
  // An enum in `propertyNames`: it lists the allowed names.
  if (error.keyword === 'enum' && error.propertyName !== undefined) return unknown;
  if (error.keyword === 'enum') return `must be one of ${JSON.stringify(error.params['allowedValues']).slice(0, 500)}`;
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params['allowedValue']).slice(0, 500)}`;
  return error.message ?? 'does not match the schema';
}

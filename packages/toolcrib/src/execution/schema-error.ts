import type { ErrorObject } from 'ajv';

/** Where a value breaks its schema: a path that begins with `root`. */
export function fieldOf(error: ErrorObject, root: string): string {
  const segments = error.instancePath.split('/').slice(1).map(unescapePointer);
  const missing = error.keyword === 'required' ? error.params['missingProperty'] : undefined;
  const last: unknown = missing ?? error.params['additionalProperty'] ?? error.params['unevaluatedProperty'] ?? error.propertyName;
  return [root, ...segments, ...(typeof last === 'string' ? [last] : [])].join('.').slice(0, 500);
}

/** How it breaks it, to be read after the field; `unknown` is what is said of a field that the schema does not know. */
export function reasonOf(error: ErrorObject, unknown: string): string {
  if (error.keyword === 'required') return 'is required';
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') return unknown;
  // Of `propertyNames`: the names are all that there may be.
  if (error.keyword === 'enum' && error.propertyName !== undefined) return unknown;
  if (error.keyword === 'enum') return `must be one of ${JSON.stringify(error.params['allowedValues']).slice(0, 500)}`;
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params['allowedValue']).slice(0, 500)}`;
  return error.message ?? 'does not fit the schema';
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** RFC 6570, level 1: `{name}` is replaced by its value, with everything but unreserved characters escaped. */
export interface UriTemplate {
  variables: string[];
  expand(values: Record<string, unknown>): string;
}

const expression = /\{([^{}]*)\}/g;
const variableName = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})*$/;

/** Undefined where it needs more than level 1, or is not a template. */
export function parseUriTemplate(template: string): UriTemplate | undefined {
  const variables = [...new Set([...template.matchAll(expression)].map(([, name = '']) => name))];
  if (variables.length === 0 || !variables.every((name) => variableName.test(name))) return undefined;
  if (/[{}]/.test(template.replaceAll(expression, ''))) return undefined;
  return { variables, expand: (values) => template.replaceAll(expression, (_, name: string) => escaped(values[name])) };
}

function escaped(value: unknown): string {
  if (typeof value !== 'string') return '';
  // encodeURIComponent leaves five characters that RFC 3986 reserves.
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(value.toWellFormed()).replaceAll(/[!'()*]/g, hex);
}

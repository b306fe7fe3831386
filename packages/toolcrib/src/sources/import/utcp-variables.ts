/**
 * Rewrites every `$NAME` in a template as `${NAME}`, because UTCP clients accept both. Like them, it leaves text with `$ref` alone, which
 * may belong to a schema.
 */
export function withBraces<Value>(value: Value): Value {
  if (typeof value === 'string') {
    if (value.includes('$ref')) return value;
    return value.replaceAll(/\$([A-Za-z_][A-Za-z0-9_]*)/g, '${$1}') as Value;
  }
  if (Array.isArray(value)) return value.map(withBraces) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBraces(inner)])) as Value;
}

/**
 * What a template says, with every `$NAME` written as `${NAME}`, as UTCP clients understand both. They leave alone what has `$ref` in it, where
 * a schema may be meant.
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

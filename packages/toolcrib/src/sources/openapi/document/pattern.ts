/** Characters that may be escaped in a regular expression in Unicode mode, which JSON Schema requires. */
const escapable = new Set('^$\\.*+?()[]{}|/');

/**
 * A `pattern` as JSON Schema requires it: an ECMAScript regular expression in Unicode mode. Needless escapes (`\_`, `\@`, `\-`) are
 * removed. Undefined if the pattern is invalid, or enclosed in slashes.
 */
export function legalPattern(pattern: string): string | undefined {
  if (/^\/\^.*\$?\/[a-z]*$/s.test(pattern)) return undefined;
  if (compiles(pattern)) return pattern;
  const plain = withoutNeedlessEscapes(pattern);
  return compiles(plain) ? plain : undefined;
}

function withoutNeedlessEscapes(pattern: string): string {
  let inClass = false;
  return pattern.replaceAll(/\\[^]|\[|\]/g, (part) => {
    if (part === '[') inClass = true;
    else if (part === ']') inClass = false;
    const escaped = part[1];
    if (escaped === undefined || /[A-Za-z0-9]/.test(escaped) || escapable.has(escaped)) return part;
    return inClass && escaped === '-' ? part : escaped;
  });
}

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

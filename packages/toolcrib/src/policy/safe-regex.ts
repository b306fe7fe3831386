import { RE2JS } from 're2js';

/** Claims and names are short; longer text is not worth matching. */
const maxInputLength = 8192;

/** An RE2 match takes at most one step per instruction and character, some 30 ns each: this bounds it to a fraction of a second. */
const maxSteps = 10_000_000;

/**
 * A whole-string RE2 test: linear in its input whatever the pattern, unlike the language's own expressions. A test that would still take too
 * long does not match. Throws on a bad pattern.
 */
export function compileSafeRegex(pattern: string): (input: string) => boolean {
  const compiled = RE2JS.compile(pattern, RE2JS.DOTALL);
  const longest = Math.min(maxInputLength, maxSteps / compiled.programSize());
  return (input) => input.length <= longest && compiled.matches(input);
}

/**
 * For JSON Schema's `pattern`, which matches anywhere. A pattern that RE2 cannot express (look-ahead, back-references), or that would take too
 * long, accepts every string: the tool server checks its own patterns again, and refusing the whole tool would help nobody.
 */
export function compileSearchRegex(pattern: string): (input: string) => boolean {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch {
    return () => true;
  }
  const longest = maxSteps / compiled.programSize();
  return (input) => input.length > longest || compiled.matcher(input).find();
}

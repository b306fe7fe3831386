import { jsonFault } from './json-fault.ts';

/** Deeper than any honest file, and far from what could exhaust a stack. */
const maxDepth = 64;

/**
 * JSON as editors keep it: with comments, commas before a closing bracket and a byte order mark. Throws `SyntaxError`.
 *
 * A `__proto__` is refused wherever it stands, and so is deep nesting, because whatever walks the value next could not stand it.
 */
export function parseJsonc(text: string): unknown {
  const plain = plainJson(text);
  const fault = jsonFault(plain);
  if (fault !== undefined) throw new SyntaxError(fault);
  return JSON.parse(plain, (name, value: unknown) => {
    if (name === '__proto__') throw new SyntaxError('__proto__ cannot be the name of a field');
    return value;
  });
}

/** The same text as JSON. Everything stays where it was, so that a mistake is told at its own place. */
export function plainJson(text: string): string {
  // Pieces, because changing a long string over and over would take quadratic time.
  const plain: string[] = [];
  let depth = 0;
  /** Where in `plain` a comma stands that nothing but blanks has followed. */
  let comma = -1;
  let index = text.startsWith('\uFEFF') ? 1 : 0;
  while (index < text.length) {
    const character = text[index] ?? '';
    if (character === '"') {
      const end = endOfString(text, index);
      plain.push(text.slice(index, end));
      index = end;
      comma = -1;
      continue;
    }
    const end = endOfComment(text, index);
    if (end > index) {
      plain.push(text.slice(index, end).replaceAll(/[^\r\n]/g, ' '));
      index = end;
      continue;
    }
    if (character === '{' || character === '[') {
      if (++depth > maxDepth) throw new SyntaxError(`nested more than ${maxDepth} levels deep`);
    } else if (character === '}' || character === ']') {
      depth--;
      if (comma >= 0) plain[comma] = ' ';
    }
    if (character === ',') comma = plain.length;
    else if (!/\s/.test(character)) comma = -1;
    plain.push(character);
    index++;
  }
  return plain.join('');
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index + 1;
}

function endOfComment(text: string, start: number): number {
  const opening = text.slice(start, start + 2);
  if (opening === '//') {
    const end = text.indexOf('\n', start);
    return end < 0 ? text.length : end;
  }
  if (opening !== '/*') return start;
  const end = text.indexOf('*/', start + 2);
  if (end < 0) throw new SyntaxError('a comment has no end');
  return end + 2;
}

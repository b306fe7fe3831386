/** Looked at no further than this: finding the place must not cost more than the mistake is worth. */
const mostCharacters = 4_000_000;

type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a name in double quotes or }'
  | 'a name in double quotes'
  | 'a colon'
  | 'a comma or ]'
  | 'a comma or }'
  | 'nothing more';

/**
 * Where a text stops being JSON and what should stand there, such as `line 2, column 5: a comma or } is expected, not "x"`; undefined where
 * it is JSON. `JSON.parse` tells the place of some mistakes only, and quotes what is around them, which may be a secret.
 */
export function jsonFault(text: string): string | undefined {
  if (text.length > mostCharacters) return undefined;
  const open: ('{' | '[')[] = [];
  const afterValue = (): Expected => (open.length === 0 ? 'nothing more' : open.at(-1) === '{' ? 'a comma or }' : 'a comma or ]');
  let expected: Expected = 'a value';
  let at = 0;
  for (;;) {
    while (isBlank(text.charCodeAt(at))) at++;
    const character = text[at];
    if (character === undefined)
      return expected === 'nothing more' ? undefined : placed(text, at, `${expected} is expected, and the text ends`);
    const closes = (character === '}' && expected.endsWith('}')) || (character === ']' && expected.endsWith(']'));
    if (closes) {
      open.pop();
      at++;
      expected = afterValue();
    } else if (expected.startsWith('a value')) {
      if (character === '{' || character === '[') {
        open.push(character);
        at++;
        expected = character === '{' ? 'a name in double quotes or }' : 'a value or ]';
      } else {
        const end = character === '"' ? endOfString(text, at) : endOfWord(text, at);
        if (end === undefined) return placed(text, at, notExpected(expected, character));
        if (typeof end === 'object') return placed(text, end.at, end.problem);
        at = end;
        expected = afterValue();
      }
    } else if (expected.startsWith('a name') && character === '"') {
      const end = endOfString(text, at);
      if (typeof end === 'object') return placed(text, end.at, end.problem);
      at = end;
      expected = 'a colon';
    } else if (expected === 'a colon' && character === ':') {
      at++;
      expected = 'a value';
    } else if (expected.startsWith('a comma') && character === ',') {
      at++;
      expected = open.at(-1) === '{' ? 'a name in double quotes' : 'a value';
    } else return placed(text, at, notExpected(expected, character));
  }
}

/** For a message: `: line 2, column 5: …`, or nothing where the place cannot be told. */
export function atJsonFault(text: string): string {
  const fault = jsonFault(text);
  return fault === undefined ? '' : `: ${fault}`;
}

function notExpected(expected: Expected, character: string): string {
  return `${expected} is expected, not ${JSON.stringify(character)}`;
}

interface StringProblem {
  at: number;
  problem: string;
}

function endOfString(text: string, start: number): number | StringProblem {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (Number.isNaN(code)) return { at: start, problem: 'the text that begins here has no closing quote' };
    if (code < 0x20)
      return { at, problem: `a line break or control character inside a text is written as ${JSON.stringify(text[at]).slice(1, -1)}` };
    if (code === 0x5c) {
      const escape = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(at + 1, at + 6));
      if (escape === null) return { at, problem: 'a backslash inside a text is written twice' };
      at += escape[0].length;
    }
    at++;
  }
}

function endOfWord(text: string, start: number): number | undefined {
  const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
  word.lastIndex = start;
  return word.test(text) ? word.lastIndex : undefined;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function placed(text: string, at: number, problem: string): string {
  const before = text.slice(0, at).split(/\r\n|\n|\r/);
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}: ${problem}`;
}

import { CribError } from '../../../model/crib-error.ts';
import { constants, functions } from './functions.ts';
import { sum } from './significant-digits.ts';

export const longestExpression = 2000;

/** Limits the recursion, so that no expression overflows the stack. */
const deepestNesting = 100;

interface Cursor {
  readonly text: string;
  at: number;
  depth: number;
}

const numberPattern = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y;
const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y;

/** Evaluates an arithmetic expression while parsing it: one pass, no generated code. Throws `VALIDATION_ERROR`. */
export function evaluate(text: string): number {
  if (text.length > longestExpression)
    throw new CribError('VALIDATION_ERROR', `The expression is longer than ${longestExpression} characters.`);
  const cursor: Cursor = { text, at: 0, depth: 0 };
  const value = readSum(cursor);
  if (peek(cursor) !== '') throw unexpected(cursor, 'an operator or the end');
  return value;
}

function readSum(cursor: Cursor): number {
  let value = readProduct(cursor);
  for (;;) {
    const operator = peek(cursor);
    if (operator !== '+' && operator !== '-' && operator !== '−') return value;
    const start = cursor.at++;
    const right = readProduct(cursor);
    value = finite(sum(value, operator === '+' ? right : -right), operator, start);
  }
}

function readProduct(cursor: Cursor): number {
  let value = readSigned(cursor);
  for (;;) {
    const operator = peek(cursor);
    const multiplies = operator === '*' || operator === '×';
    const divides = operator === '/' || operator === '÷';
    if (!multiplies && !divides && operator !== '%') return value;
    const start = cursor.at++;
    const right = readSigned(cursor);
    if (!multiplies && right === 0) throw wrong('Division by zero', start);
    value = finite(multiplies ? value * right : divides ? value / right : value % right, operator, start);
  }
}

/** A sign binds less tightly than a power, as in mathematics: -2^2 is -4. All nesting passes through here, so the depth is counted here. */
function readSigned(cursor: Cursor): number {
  if (++cursor.depth > deepestNesting) throw wrong(`The expression is nested deeper than ${deepestNesting} levels`, cursor.at);
  const sign = peek(cursor);
  let value: number;
  if (sign === '-' || sign === '−' || sign === '+') {
    cursor.at++;
    value = sign === '+' ? readSigned(cursor) : -readSigned(cursor);
  } else {
    value = readPower(cursor);
  }
  cursor.depth--;
  return value;
}

function readPower(cursor: Cursor): number {
  const base = readOperand(cursor);
  const caret = peek(cursor) === '^';
  if (!caret && !cursor.text.startsWith('**', cursor.at)) return base;
  const start = cursor.at;
  cursor.at += caret ? 1 : 2;
  const exponent = readSigned(cursor);
  if (base === 0 && exponent < 0) throw wrong('Division by zero', start);
  return finite(base ** exponent, '^', start);
}

function readOperand(cursor: Cursor): number {
  if (peek(cursor) === '(') {
    cursor.at++;
    const value = readSum(cursor);
    expectClosing(cursor);
    return value;
  }
  const start = cursor.at;
  const digits = match(cursor, numberPattern);
  if (digits !== undefined) return finite(Number(digits), digits.slice(0, 20), start);
  const name = match(cursor, namePattern)?.toLowerCase();
  if (name === undefined) throw unexpected(cursor, 'a number, a name or "("');
  return peek(cursor) === '(' ? readCall(cursor, name, start) : readConstant(name, start);
}

function readConstant(name: string, start: number): number {
  const value = constants.get(name);
  if (value !== undefined) return value;
  if (functions.has(name)) throw wrong(`${name} is a function: write ${name}(…)`, start);
  throw wrong(`Unknown constant "${shown(name)}" (use ${[...constants.keys()].join(', ')}; write products with *)`, start);
}

function readCall(cursor: Cursor, name: string, start: number): number {
  const called = functions.get(name);
  if (!called) throw wrong(`Unknown function "${shown(name)}" (use ${[...functions.keys()].join(', ')})`, start);
  cursor.at++;
  const args: number[] = [];
  if (peek(cursor) !== ')') {
    args.push(readSum(cursor));
    while (peek(cursor) === ',') {
      cursor.at++;
      args.push(readSum(cursor));
    }
  }
  expectClosing(cursor);
  if (args.length < called.least) throw wrong(`${name} needs at least ${called.least} argument(s)`, start);
  if (args.length > called.most) throw wrong(`${name} takes at most ${called.most} argument(s)`, start);
  return finite(called.apply(args), name, start);
}

/** The next character that is not a space, or '' at the end. */
function peek(cursor: Cursor): string {
  const { text } = cursor;
  let code = text.charCodeAt(cursor.at);
  while (code === 32 || (code >= 9 && code <= 13) || code === 160) code = text.charCodeAt(++cursor.at);
  return text.charAt(cursor.at);
}

function match(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0];
  if (found !== undefined) cursor.at += found.length;
  return found;
}

function expectClosing(cursor: Cursor): void {
  if (peek(cursor) !== ')') throw unexpected(cursor, 'an operator or ")"');
  cursor.at++;
}

function finite(value: number, what: string, at: number): number {
  if (Number.isNaN(value)) throw wrong(`"${what}" has no real result for these numbers`, at);
  if (!Number.isFinite(value)) throw wrong(`The result of "${what}" is infinite or too large`, at);
  return value;
}

function unexpected(cursor: Cursor, expected: string): CribError {
  const found = String.fromCodePoint(cursor.text.codePointAt(cursor.at) ?? 32);
  return wrong(`Expected ${expected}, found ${cursor.at < cursor.text.length ? JSON.stringify(found) : 'the end'}`, cursor.at);
}

function wrong(message: string, at: number): CribError {
  return new CribError('VALIDATION_ERROR', `${message}, at character ${at + 1} of the expression.`, { field: 'expression' });
}

function shown(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name;
}

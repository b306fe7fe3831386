import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { failureOf, openBuiltins, structuredOf, textOf } from './builtin-caller.ts';

const { callNow } = openBuiltins();

test.each([
  ['1 + 2', '3'],
  ['0.1 + 0.2', '0.3'],
  ['0.5 - 0.4 - 0.1', '0'],
  ['1/3', '0.333333333333333'],
  ['2 + 3 * 4', '14'],
  ['(2 + 3) * 4', '20'],
  ['-2 ^ 2', '-4'],
  ['(-2) ^ 2', '4'],
  ['2 ^ 3 ^ 2', '512'],
  ['2 ** -1', '0.5'],
  ['2 ^ -1', '0.5'],
  ['--5', '5'],
  ['+-+5', '-5'],
  ['-0', '0'],
  ['7 % 3', '1'],
  ['-7 % 3', '-1'],
  ['10 / 4 * 2', '5'],
  ['10 - 4 - 3', '3'],
  ['.5 + 5.', '5.5'],
  ['1e3', '1000'],
  ['2 × 3 − 8 ÷ 4', '4'],
  [' \t1\n+ 1 ', '2'],
  ['sqrt(16)', '4'],
  ['cbrt(27)', '3'],
  ['abs(-3)', '3'],
  ['round(2.5)', '3'],
  ['round(-2.5)', '-3'],
  ['round(1.005, 2)', '1.01'],
  ['floor(-1.5)', '-2'],
  ['ceil(1.2)', '2'],
  ['trunc(-1.9)', '-1'],
  ['min(3, 1, 2)', '1'],
  ['max(3, 1, 2)', '3'],
  ['sin(pi)', '0'],
  ['cos(pi / 2)', '0'],
  ['tan(pi / 4)', '1'],
  ['sin(1e-20)', '1e-20'],
  ['log(1000)', '3'],
  ['log(8, 2)', '3'],
  ['log2(1024)', '10'],
  ['ln(e)', '1'],
  ['exp(0)', '1'],
  ['hypot(3, 4)', '5'],
  ['factorial(20)', '2.43290200817664e+18'],
  ['factorial(5)', '120'],
  ['degrees(pi)', '180'],
  ['PI', '3.14159265358979'],
  ['Sqrt(4)', '2'],
  ['9007199254740991', '9007199254740991'],
  ['2 ^ 64', '1.84467440737096e+19'],
  ['1e-7 * 3', '3e-7'],
])('[BI-1] the calculator answers %s with %s', (expression, expected) => {
  const output = callNow('calculator', { expression });
  expect(structuredOf(output)).toEqual({ result: Number(expected) });
  expect(textOf(output)).toBe(expected);
});

test.each([
  ['1 / 0', 'Division by zero, at character 3'],
  ['1 % (2 - 2)', 'Division by zero, at character 3'],
  ['0 ^ -1', 'Division by zero, at character 3'],
  ['2 + * 3', 'found "*", at character 5'],
  ['2 3', 'Expected an operator or the end, found "3", at character 3'],
  ['(1 + 2', 'found the end, at character 7'],
  ['1 + 2)', 'found ")", at character 6'],
  ['   ', 'found the end'],
  ['1,000', 'found ","'],
  ['2pi', 'found "p", at character 2'],
  ['x + 1', 'Unknown constant "x"'],
  ['sin', 'sin is a function'],
  ['foo(1)', 'Unknown function "foo"'],
  ['constructor', 'Unknown constant "constructor"'],
  ['__proto__', 'Unknown constant "__proto__"'],
  ['constructor(1)', 'Unknown function "constructor"'],
  ['toString()', 'Unknown function "tostring"'],
  ['process.exit(1)', 'Unknown constant "process"'],
  ['sqrt()', 'needs at least 1 argument'],
  ['sqrt(1, 2)', 'takes at most 1 argument'],
  ['max()', 'needs at least 1 argument'],
  ['sqrt(-1)', 'no real result'],
  ['asin(2)', 'no real result'],
  ['(-8) ^ 0.5', 'no real result'],
  ['ln(0)', 'infinite'],
  ['factorial(1e15)', 'infinite'],
  ['factorial(-1)', 'no real result'],
  ['round(1, 1e9)', 'no real result'],
  ['log(5, 1)', 'no real result'],
  ['10 ^ 999', 'infinite or too large'],
  ['1e999', 'infinite or too large'],
  ['1e308 * 10', 'infinite or too large'],
  ['💥', 'found "💥", at character 1'],
  ['1 ; 2', 'found ";"'],
])('[BI-1] the calculator explains what is wrong with %j', (expression, expected) => {
  expect(failureOf(callNow('calculator', { expression }))).toContain(expected);
});

test.each([
  ['deep parentheses', `${'('.repeat(900)}1${')'.repeat(900)}`],
  ['a long row of signs', `${'-'.repeat(1900)}1`],
  ['a tower of powers', Array(900).fill('1').join('^')],
  ['nested functions', `${'abs('.repeat(300)}1${')'.repeat(300)}`],
])('[BI-1] the calculator refuses %s instead of overflowing the stack', (_, expression) => {
  expect(failureOf(callNow('calculator', { expression }))).toContain('nested deeper than 100 levels');
});

test('[BI-1] the calculator accepts an expression of the allowed length, and refuses a longer one', () => {
  expect(structuredOf(callNow('calculator', { expression: `1${'+1'.repeat(999)}` }))).toEqual({ result: 1000 });
  expect(() => callNow('calculator', { expression: '1'.repeat(2001) })).toThrow('must NOT have more than 2000 characters');
});

test('[BI-1] the calculator answers any input with a finite number or a failure', () => {
  const alphabet = fc.constantFrom(...'0123456789.+-*/%^(),eE pi'.split(''), 'sqrt(', 'max(', 'ln(', '**', '💥');
  fc.assert(
    fc.property(fc.array(alphabet, { minLength: 1, maxLength: 60 }), (parts) => {
      const output = callNow('calculator', { expression: parts.join('') });
      expect(output.content).toHaveLength(1);
    }),
  );
});

test('[BI-1] whole numbers are exact', () => {
  const { expression } = fc.letrec<{ expression: [string, bigint] }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 4 },
      fc.integer({ min: 0, max: 99 }).map((n): [string, bigint] => [String(n), BigInt(n)]),
      fc
        .tuple(tie('expression'), fc.constantFrom('+', '-', '*'), tie('expression'))
        .map(([[a, x], operator, [b, y]]): [string, bigint] => [
          `(${a} ${operator} ${b})`,
          operator === '+' ? x + y : operator === '-' ? x - y : x * y,
        ]),
    ),
  }));
  fc.assert(
    fc.property(expression, ([text, value]) => {
      fc.pre(text.length <= 2000 && value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER);
      expect(structuredOf(callNow('calculator', { expression: text }))).toEqual({ result: Number(value) });
    }),
  );
});

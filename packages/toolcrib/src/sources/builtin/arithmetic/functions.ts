import { roundToSignificant } from './significant-digits.ts';

interface ArithmeticFunction {
  /** The smallest and largest number of arguments. */
  least: number;
  most: number;
  apply(args: readonly number[]): number;
}

export const constants: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['e', Math.E],
  ['tau', 2 * Math.PI],
  ['phi', (1 + Math.sqrt(5)) / 2],
]);

function one(apply: (x: number) => number): ArithmeticFunction {
  return { least: 1, most: 1, apply: ([x]) => apply(x!) };
}

/** A result smaller than the rounding error of the argument is 0: sin(pi) is 0, although pi itself is rounded. */
function periodic(apply: (x: number) => number): ArithmeticFunction {
  return one((x) => {
    const result = apply(x);
    return Math.abs(result) <= Math.abs(x) * Number.EPSILON ? 0 : result;
  });
}

/** Rounds half away from zero, as people do. The product is rounded to 15 digits first, so that round(1.005, 2) is 1.01. */
function round(x: number, places: number): number {
  if (!Number.isInteger(places) || places < 0 || places > 15) return Number.NaN;
  const shift = 10 ** places;
  return (Math.sign(x) * Math.round(roundToSignificant(Math.abs(x) * shift))) / shift;
}

function factorial(n: number): number {
  if (!Number.isInteger(n) || n < 0) return Number.NaN;
  let result = 1;
  for (let i = 2; i <= n && Number.isFinite(result); i++) result *= i;
  return result;
}

function log(x: number, base: number): number {
  if (base === 10) return Math.log10(x);
  if (base === 2) return Math.log2(x);
  return base === 1 ? Number.NaN : Math.log(x) / Math.log(base);
}

const many = { least: 1, most: Number.POSITIVE_INFINITY };

export const functions: ReadonlyMap<string, ArithmeticFunction> = new Map([
  ['sqrt', one(Math.sqrt)],
  ['cbrt', one(Math.cbrt)],
  ['abs', one(Math.abs)],
  ['sign', one(Math.sign)],
  ['floor', one(Math.floor)],
  ['ceil', one(Math.ceil)],
  ['trunc', one(Math.trunc)],
  ['round', { least: 1, most: 2, apply: ([x, places = 0]) => round(x!, places) }],
  ['min', { ...many, apply: (args) => Math.min(...args) }],
  ['max', { ...many, apply: (args) => Math.max(...args) }],
  ['exp', one(Math.exp)],
  ['ln', one(Math.log)],
  ['log2', one(Math.log2)],
  ['log10', one(Math.log10)],
  ['log', { least: 1, most: 2, apply: ([x, base = 10]) => log(x!, base) }],
  ['pow', { least: 2, most: 2, apply: ([x, y]) => x! ** y! }],
  ['hypot', { ...many, apply: (args) => Math.hypot(...args) }],
  ['factorial', one(factorial)],
  ['sin', periodic(Math.sin)],
  ['cos', periodic(Math.cos)],
  ['tan', periodic(Math.tan)],
  ['asin', one(Math.asin)],
  ['acos', one(Math.acos)],
  ['atan', one(Math.atan)],
  ['atan2', { least: 2, most: 2, apply: ([y, x]) => Math.atan2(y!, x!) }],
  ['sinh', one(Math.sinh)],
  ['cosh', one(Math.cosh)],
  ['tanh', one(Math.tanh)],
  ['radians', one((x) => (x * Math.PI) / 180)],
  ['degrees', one((x) => (x * 180) / Math.PI)],
]);

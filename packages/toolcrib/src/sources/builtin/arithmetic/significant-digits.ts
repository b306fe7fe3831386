/** A double is reliable to 15 decimal digits; later digits are rounding errors, as in 0.1 + 0.2. */
const digits = 15;

/** Rounds a number to 15 significant digits. Integers that a double holds exactly stay as they are. */
export function roundToSignificant(value: number): number {
  // Adding zero turns -0 into 0.
  return (Number.isSafeInteger(value) ? value : Number(value.toPrecision(digits))) + 0;
}

/** Prints large numbers with an exponent: written out, they would end in zeros that were never computed. */
export function printNumber(value: number): string {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER ? value.toExponential() : String(value);
}

/** Adds two numbers. A difference in the last bits only counts as a rounding error, so that 0.5 - 0.4 - 0.1 is 0. */
export function sum(a: number, b: number): number {
  const result = a + b;
  return Math.abs(result) < Math.max(Math.abs(a), Math.abs(b)) * Number.EPSILON * 4 ? 0 : result;
}

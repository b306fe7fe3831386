/** A double holds 15 decimal digits faithfully; what lies beyond is the noise of 0.1 + 0.2. */
const digits = 15;

/** The number without the noise behind its 15th digit. Whole numbers a double holds exactly stay as they are. */
export function roundToSignificant(value: number): number {
  // Adding zero turns -0 into 0.
  return (Number.isSafeInteger(value) ? value : Number(value.toPrecision(digits))) + 0;
}

/** As a reader expects it: where digits are missing, the exponent says so, rather than zeros that were never computed. */
export function printNumber(value: number): string {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER ? value.toExponential() : String(value);
}

/** A sum; what is left of two numbers that cancel each other to the last bits is nothing but their rounding: 0.5 - 0.4 - 0.1 is 0. */
export function sum(a: number, b: number): number {
  const result = a + b;
  return Math.abs(result) < Math.max(Math.abs(a), Math.abs(b)) * Number.EPSILON * 4 ? 0 : result;
}

const and = new Intl.ListFormat('en-GB', { type: 'conjunction' });
const or = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** `a, b and c`. */
export function andList(values: readonly string[]): string {
  return and.format(values);
}

/** `a, b or c`. */
export function orList(values: readonly string[]): string {
  return or.format(values);
}

export type StoredValue = string | number | null;

/** Every column of a row, in order: the same for a row that is about to be written and for one that was read. */
export function storedValues(columns: readonly (readonly [name: string, type: unknown])[], row: object): StoredValue[] {
  const values: StoredValue[] = [];
  for (const column of columns) {
    // Absent in what an earlier version noted of a call that is recorded by this one.
    const value = (row as Record<string, StoredValue | undefined>)[column[0]] ?? null;
    values.push(typeof value === 'string' ? plainText(value) : value);
  }
  return values;
}

/**
 * Text as every database can keep it. PostgreSQL refuses NUL, and half a surrogate pair has no UTF-8: both become U+FFFD, so that a name
 * a hostile caller made up can neither fail a statement nor read differently on the two databases. JSON escapes both, so JSON comes back
 * exactly as it was stored.
 */
export function plainText(text: string): string {
  // Asking is several times cheaper than making the text anew, and nearly every text is plain already.
  if (text.isWellFormed() && !text.includes('\0')) return text;
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** Every parameter of every statement passes here, whether it is stored or searched for. */
export function plainParameter(parameter: unknown): unknown {
  return typeof parameter === 'string' ? plainText(parameter) : parameter;
}

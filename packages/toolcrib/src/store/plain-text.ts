/**
 * Text as every database can keep it. PostgreSQL refuses NUL, and half a surrogate pair has no UTF-8: both become U+FFFD, so that a name
 * a hostile caller made up can neither fail a statement nor read differently on the two databases. JSON escapes both, so what is
 * stored as JSON comes back exactly.
 */
export function plainText(text: string): string {
  // Asking is several times cheaper than making the text anew, and nearly every text is plain already.
  if (text.isWellFormed() && !text.includes('\0')) return text;
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** Every parameter of every statement goes through here, what is stored and what is looked for alike. */
export function plainParameter(parameter: unknown): unknown {
  return typeof parameter === 'string' ? plainText(parameter) : parameter;
}

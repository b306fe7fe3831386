/** RFC 9110 §10.2.3: seconds, or a date. Undefined where it is neither. */
export function retryAfterOf(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` takes a great deal for a date; only one of HTTP has a day's name and a comma.
  const at = /^\w{3,9}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

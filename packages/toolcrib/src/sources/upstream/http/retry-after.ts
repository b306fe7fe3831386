/** RFC 9110 §10.2.3: seconds or a date, as milliseconds from now. Undefined if the header is neither. */
export function retryAfterOf(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // `Date.parse` accepts too much; a date of HTTP begins with a day's name and a comma.
  const at = /^\w{3,9}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

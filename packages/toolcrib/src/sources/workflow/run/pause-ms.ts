import type { Json } from '../../../model/json.ts';

/** The service's `Retry-After` overrides the document's `retryAfter`. RFC 9110 §10.2.3: seconds, or a date. */
export function pauseMs(retryAfter: Json | undefined, otherwiseMs: number, now = Date.now()): number {
  if (typeof retryAfter !== 'string' && typeof retryAfter !== 'number') return otherwiseMs;
  const text = String(retryAfter).trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? otherwiseMs : Math.max(0, moment - now);
}

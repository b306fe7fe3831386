import type { Json } from '../../../model/json.ts';

/** What a service asks for overrules what the document says. RFC 9110 §10.2.3: seconds, or a moment. */
export function pauseMs(retryAfter: Json | undefined, otherwiseMs: number, now = Date.now()): number {
  if (typeof retryAfter !== 'string' && typeof retryAfter !== 'number') return otherwiseMs;
  const text = String(retryAfter).trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? otherwiseMs : Math.max(0, moment - now);
}

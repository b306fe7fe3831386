/** Where somebody stands in a trace, as it is passed on: W3C Trace Context, the same words in HTTP headers and in MCP's `_meta` (SEP-414). */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Later versions may say more after the flags; what version 00 says comes first in all of them. */
const parentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const stateForm = /^[\x20-\x7E\t]{1,512}$/;

/** What a caller sent, or undefined where it is none: a context that cannot be read is as good as absent. */
export function readTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > 512) return undefined;
  const [, version = 'ff', trace = '', span = '', flags = '', more] = parentForm.exec(traceparent) ?? [];
  if (version === 'ff' || /^0+$/.test(trace) || /^0+$/.test(span) || (version === '00' && more !== undefined)) return undefined;
  const parent = version === '00' ? traceparent : `00-${trace}-${span}-${flags}`;
  // The vendors' part is optional: where it does not fit, the trace goes on without it.
  return typeof tracestate === 'string' && stateForm.test(tracestate) ? { traceparent: parent, tracestate } : { traceparent: parent };
}

export function traceIdOf({ traceparent }: TraceContext): string {
  return traceparent.slice(3, 35);
}

import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  createTraceState,
  trace,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
} from '@opentelemetry/api';
import type { TraceContext } from '../model/trace-context.ts';
import type { Span, SpanOptions, Tracer } from '../model/tracing.ts';

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/** Implements our tracer with OpenTelemetry's. Contexts are passed explicitly, so that concurrent calls cannot mix them up. */
export function tracerOver(tracer: OtelTracer): Tracer {
  return { start: (name, parent, options) => begin(tracer, name, parent === undefined ? undefined : remoteSpan(parent), options) };
}

function begin(tracer: OtelTracer, name: string, parent: OtelSpan | undefined, { kind = 'internal', attributes }: SpanOptions = {}): Span {
  const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
  return new TracedSpan(tracer, tracer.startSpan(name, { kind: kinds[kind], ...(attributes && { attributes }) }, context));
}

class TracedSpan implements Span {
  readonly context: TraceContext;
  readonly #tracer: OtelTracer;
  readonly #span: OtelSpan;
  #ended = false;

  constructor(tracer: OtelTracer, span: OtelSpan) {
    this.#tracer = tracer;
    this.#span = span;
    this.context = contextOf(span);
  }

  child(name: string, options?: SpanOptions): Span {
    return begin(this.#tracer, name, this.#span, options);
  }

  set(attributes: Parameters<Span['set']>[0]): void {
    this.#span.setAttributes(attributes);
  }

  end(failure?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    if (failure !== undefined) {
      this.#span.setAttribute('error.type', failure);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

function contextOf(span: OtelSpan): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const traceparent = `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

function remoteSpan({ traceparent, tracestate }: TraceContext): OtelSpan {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-');
  const traceState = tracestate === undefined ? undefined : createTraceState(tracestate);
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.wrapSpanContext({ traceId, spanId, traceFlags, isRemote: true, ...(traceState && { traceState }) });
}

import type { TraceContext } from './trace-context.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  /** Who waits for whom: a request that came in, one that goes out, or work of our own. */
  kind?: 'server' | 'client' | 'internal';
  attributes?: SpanAttributes;
}

/** [OPS-1] One timed piece of work. Its attributes never hold what callers send or tools answer. */
export interface Span {
  /** To be passed on with the next request. */
  readonly context: TraceContext;
  child(name: string, options?: SpanOptions): Span;
  set(attributes: SpanAttributes): void;
  /** With a word for what went wrong, where something did. Only the first end counts. */
  end(failure?: string): void;
}

/** [OPS-1] Begins spans. Where nobody wants traces there is none, and nothing is paid for it. */
export interface Tracer {
  /** Under the context that a caller sent, or as the first of a trace of its own. */
  start(name: string, parent: TraceContext | undefined, options?: SpanOptions): Span;
}

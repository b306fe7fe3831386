import type { TraceContext } from './trace-context.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanOptions {
  /** Who waits for whom: a request that came in, one that goes out, or work of our own. */
  kind?: 'server' | 'client' | 'internal';
  attributes?: SpanAttributes;
}

/** [OPS-1] One piece of work that is timed. What callers send and tools answer is never among its attributes. */
export interface Span {
  /** To be passed on to whoever is asked next. */
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

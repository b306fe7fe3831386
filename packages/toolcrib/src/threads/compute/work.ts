/** A job for a worker. JSON is passed as text and parsed by the worker, so that parsing does not block the main thread. */
export type Work =
  | { readonly kind: 'json_query'; readonly data: string; readonly query: string }
  | { readonly kind: 'text_diff'; readonly before: string; readonly after: string; readonly contextLines: number; readonly name?: string };

/** The structured result as JSON text and the text for a model, or the reason for a failure. */
export type WorkOutcome = { readonly structured: string; readonly text: string } | { readonly failure: string };

/** The longest result, in characters; a longer one is truncated and marked so. */
export const resultLimit = 200_000;

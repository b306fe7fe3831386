/** What a worker is asked to do. JSON travels as text: it is parsed where it cannot hold up anybody else. */
export type Work =
  | { readonly kind: 'json_query'; readonly data: string; readonly query: string }
  | { readonly kind: 'text_diff'; readonly before: string; readonly after: string; readonly contextLines: number; readonly name?: string };

/** What came of it: the structured result as JSON text with the text for a model, or why there is none. */
export type WorkOutcome = { readonly structured: string; readonly text: string } | { readonly failure: string };

/** Longest result, in characters; what is longer is cut and says so. */
export const resultLimit = 200_000;

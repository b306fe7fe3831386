/** Gives texts vectors whose angle tells how near their meanings are. */
export interface Embedder {
  readonly dimensions: number;
  /** Of length one; all zeros for a text it knows nothing of. */
  embed(text: string): Float32Array;
}

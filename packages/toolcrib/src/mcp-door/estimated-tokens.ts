/**
 * Measured on 2,434 tools of real APIs and servers (3.7 MB): OpenAI's o200k_base has 4.40 bytes to a token, cl100k_base 4.47. With this number
 * whole lists are at most 2 % off for either, and nine tools of ten between 9 % less and 12 % more. Other tokenizers differ by more than that.
 */
const bytesPerToken = 4.4;

/** [DOOR-6] About how much of a model's context a text takes: no tokenizer is loaded for it. */
export function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

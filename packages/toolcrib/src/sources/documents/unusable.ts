/** Why an operation cannot become a tool, for the user who registers the document. Skips the operation, not the document. */
export class Unusable extends Error {
  override name = 'Unusable';
}

/** Why an operation can be no tool, in words for whoever registers its document. Caught where operations are compiled: the others go on. */
export class Unusable extends Error {
  override name = 'Unusable';
}

/** A workflow cannot be run as written, so the import skips it. The message says why, and what to do. */
export class Unsupported extends Error {
  override name = 'Unsupported';
}

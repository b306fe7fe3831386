/** A workflow that cannot be carried out as it is written. It is left out of its document; the message says why, and what to do. */
export class Unsupported extends Error {
  override name = 'Unsupported';
}

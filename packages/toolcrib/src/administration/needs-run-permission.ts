import type { NormalisedSource } from '../sources/registration/normalised-registration.ts';

/** [SEC-2] Whether a source starts something on this machine, or reads a file of it. */
export function needsRunPermission({ starts, definition }: NormalisedSource): boolean {
  return starts !== null || ('document' in definition && 'file' in definition.document);
}

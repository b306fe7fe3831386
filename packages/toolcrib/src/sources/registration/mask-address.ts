import { hiddenValue } from '../../secrets/secret.ts';
import { hasReference, looksSecret } from './secret-looks.ts';

/** An address for people to look at: without its password, and without the secrets in its query. */
export function maskAddress(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${hiddenValue}@`)
    .replaceAll(/([?&])([^=&#]+)=([^&#]+)/g, (whole, separator: string, name: string, value: string) =>
      looksSecret(name) && !hasReference(value) ? `${separator}${name}=${hiddenValue}` : whole,
    );
}

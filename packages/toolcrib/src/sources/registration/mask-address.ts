import { hiddenValue } from '../../secrets/secret.ts';
import { hasReference, looksSecret } from '../../secrets/secret-looks.ts';

/** An address that is safe to show: without its password and the secrets in its query. */
export function maskAddress(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, `$1${hiddenValue}@`)
    .replaceAll(/([?&])([^=&#]+)=([^&#]+)/g, (whole, separator: string, name: string, value: string) =>
      looksSecret(name) && !hasReference(value) ? `${separator}${name}=${hiddenValue}` : whole,
    );
}

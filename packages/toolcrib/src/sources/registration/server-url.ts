import { CribError } from '../../model/crib-error.ts';
import { checkAddress } from '../../net/check-address.ts';
import type { Draft } from './draft.ts';
import { invalid } from './invalid.ts';
import { hasReference, looksSecret } from '../../secrets/secret-looks.ts';
import { variableNameFrom } from './variable-name.ts';

export interface ServerUrlRules {
  field: string;
  allowInsecure: boolean;
  draft: Pick<Draft, 'checkLiteral' | 'checkAddress'>;
}

/** [SRC-1] [SEC-1] Refuses the address of a remote server if it could not be used or contains a password. */
export function checkServerUrl(text: string, { field, allowInsecure, draft }: ServerUrlRules): URL {
  const trimmed = text.trim();
  if (trimmed === '') throw invalid(field, 'The address of the server is empty');
  // A variable in the host would decide which server gets the secrets.
  if (/^[^/?#]*\$\{|^[a-z]+:\/\/[^/?#]*\$\{/i.test(trimmed))
    throw invalid(field, '${…} is only allowed in the path and the query of an address');
  let url: URL;
  try {
    url = checkAddress(trimmed, true);
    draft.checkLiteral(url);
  } catch (error) {
    throw invalid(field, (error as Error).message);
  }
  if (url.hash !== '') throw invalid(field, 'The address has a fragment (#…), which is never sent to a server. Remove it');
  try {
    return draft.checkAddress(url, allowInsecure);
  } catch (error) {
    throw error instanceof CribError ? invalid('allow_insecure', error.message) : error;
  }
}

/**
 * Some servers want their key in the query: `?api_key=…`. Such a value is stored as a variable and replaced by `${NAME}`. Everything else
 * stays as it was written.
 */
export function takeQuerySecrets(text: string, putAside: (variable: string, value: string) => string): string {
  const question = text.indexOf('?');
  if (question < 0) return text;
  const parts = text
    .slice(question + 1)
    .split('&')
    .map((part) => {
      const equals = part.indexOf('=');
      const name = part.slice(0, equals);
      const value = part.slice(equals + 1);
      if (equals < 0 || value === '' || !looksSecret(name) || hasReference(value)) return part;
      // Stored as encoded in the query, so that filling it in restores the address. The prefix keeps it from becoming a header [ENV-5].
      return `${name}=\${${putAside(`URL_${variableNameFrom(name)}`, value)}}`;
    });
  return `${text.slice(0, question)}?${parts.join('&')}`;
}

import { CribError } from '../../model/crib-error.ts';
import { checkAddress } from '../../net/check-address.ts';
import type { Draft } from './draft.ts';
import { invalid } from './invalid.ts';
import { hasReference, looksSecret } from './secret-looks.ts';
import { variableNameFrom } from '../mcp/registration/variable-name.ts';

export interface ServerUrlRules {
  field: string;
  allowInsecure: boolean;
  draft: Pick<Draft, 'checkLiteral' | 'checkAddress'>;
}

/** [SRC-1] [SEC-1] The address of a remote server, refused where it could not be used or would carry a password. */
export function checkServerUrl(text: string, { field, allowInsecure, draft }: ServerUrlRules): URL {
  const trimmed = text.trim();
  if (trimmed === '') throw invalid(field, 'The address of the server is empty');
  // Whoever filled in the host would choose whom we trust.
  if (/^[^/?#]*\$\{|^[a-z]+:\/\/[^/?#]*\$\{/i.test(trimmed))
    throw invalid(field, '${…} may stand in the path and the query of an address only');
  let url: URL;
  try {
    url = checkAddress(trimmed, true);
    draft.checkLiteral(url);
  } catch (error) {
    throw invalid(field, (error as Error).message);
  }
  if (url.hash !== '') throw invalid(field, 'The address has a fragment (#…), which no server ever sees. Take it off');
  try {
    return draft.checkAddress(url, allowInsecure);
  } catch (error) {
    throw error instanceof CribError ? invalid('allow_insecure', error.message) : error;
  }
}

/**
 * Some servers want their key in the query: `?api_key=…`. Such a value is put aside under a variable, and `${NAME}` stands in its place.
 * Everything else stays as it was written.
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
      // As it stands in the query, so that filling it in gives back the very same address. The prefix keeps it from becoming a header [ENV-5].
      return `${name}=\${${putAside(`URL_${variableNameFrom(name)}`, value)}}`;
    });
  return `${text.slice(0, question)}?${parts.join('&')}`;
}

import { hiddenValue } from '../../secrets/secret.ts';
import { looksLikeSecretValue, looksSecret } from '../registration/secret-looks.ts';

/** Longer texts and lists are cut here already: a message may have megabytes, of which nobody would read more. */
const maxTextLength = 131_072;
const maxListLength = 200;

const bearer = /\bBearer\s+[\w.~+/=-]{8,}/gi;
const jwt = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/**
 * [OPS-1] One message of MCP as it may be shown: beside the secrets that are known, which the log takes out, also without what gives itself
 * away as one by its name or its form.
 */
export function wireText(message: unknown): string {
  try {
    return JSON.stringify(message, shown).replaceAll(bearer, `Bearer ${hiddenValue}`).replaceAll(jwt, hiddenValue);
  } catch {
    return '(a message that is nested too deeply to be shown)';
  }
}

function shown(name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.length > maxListLength ? [...value.slice(0, maxListLength), '…'] : value;
  if (typeof value !== 'string') return value;
  // The one name of the protocol's own that sounds like a secret.
  if ((name !== 'progressToken' && looksSecret(name)) || looksLikeSecretValue(value)) return hiddenValue;
  return value.length > maxTextLength ? value.slice(0, maxTextLength) : value;
}

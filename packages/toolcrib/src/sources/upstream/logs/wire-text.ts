import { hiddenValue } from '../../../secrets/secret.ts';
import { looksLikeSecretValue, looksSecret } from '../../../secrets/secret-looks.ts';

/** Longer texts and lists are cut early, because a message may have megabytes. */
const maxTextLength = 131_072;
const maxListLength = 200;

const bearer = /\bBearer\s+[\w.~+/=-]{8,}/gi;
const jwt = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/**
 * [OPS-1] One message as it may be shown. The log removes known secrets; this function also hides values that look like secrets by their
 * name or form.
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
  // `progressToken` is the one name in the protocol that looks like a secret but is not.
  if ((name !== 'progressToken' && looksSecret(name)) || looksLikeSecretValue(value)) return hiddenValue;
  return value.length > maxTextLength ? value.slice(0, maxTextLength) : value;
}

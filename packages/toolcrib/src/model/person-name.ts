import type { JsonObject } from './json.ts';

/**
 * Most telling first. A login name and an e-mail address belong to one person and can be typed after `--user`; two people may well have the
 * same full name.
 */
const usualClaims = ['preferred_username', 'email', 'name'];
const mostCharacters = 100;
/** Cut before it is cleaned: a token may carry kilobytes of it. */
const mostRead = 1000;

/** Everything that is not seen, or that changes how what is seen is ordered. */
const hidden = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]/gu;

/**
 * What people call the one these claims are about; null where they do not say. For people to read and never to decide by: the subject
 * says who somebody is. People who can choose their own name can choose another's.
 */
export function personName(claims: JsonObject, claim?: string): string | null {
  for (const name of claim === undefined ? usualClaims : [claim, ...usualClaims]) {
    const shown = Object.hasOwn(claims, name) ? shownName(claims[name]) : '';
    if (shown !== '') return shown;
  }
  return null;
}

function shownName(value: unknown): string {
  if (typeof value !== 'string') return '';
  const name = value.slice(0, mostRead).replace(/\s+/g, ' ').replace(hidden, '').normalize('NFC').trim();
  if (name.length <= mostCharacters) return name;
  const cut = name.slice(0, mostCharacters - 1);
  // Half a picture is none.
  return `${cut.replace(/\p{Cs}$/u, '').trimEnd()}…`;
}

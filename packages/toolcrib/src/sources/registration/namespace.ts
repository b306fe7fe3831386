import { hash } from 'node:crypto';
import { invalid } from './invalid.ts';

const maxLength = 32;

/** Letters that Unicode does not decompose into a plain letter and a mark. */
const plainLetters: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
};

/** [NAME-2] A slug made from a source's name alone. It is always a valid namespace, and the slug of a slug is the same. */
export function namespaceFromName(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[ßæœøđðþłħı]/g, (letter) => plainLetters[letter] ?? '')
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, maxLength)
    .replace(/-$/, '');
  // A name without any Latin letter or digit still needs a namespace, different from that of other such names.
  return slug === '' ? `source-${hash('sha256', name, 'hex').slice(0, 8)}` : slug;
}

/** The slug from before namespaces kept underscores. Sources that were registered then still have it. */
export function formerNamespaceFromName(name: string): string {
  return namespaceFromName(name.replaceAll('_', '-'));
}

/** [NAME-2] Refuses an invalid namespace. */
export function checkNamespace(namespace: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(namespace)) return namespace;
  const rule = `A namespace has at most ${maxLength} lower-case letters, digits, _ and -, and begins with a letter or a digit`;
  throw invalid('namespace', `${rule}, such as ${namespaceFromName(namespace)}`);
}

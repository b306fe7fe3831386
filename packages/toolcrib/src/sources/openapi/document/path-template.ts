import { Unusable } from './unusable.ts';

const longest = 2048;

/** The names that stand in braces. */
export function templateNames(path: string): string[] {
  return [...new Set(Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name = '']) => name))];
}

/** A path as it is put behind a server, without the fragment by which some documents tell operations apart. */
export interface CheckedPath {
  path: string;
  /** What stands behind a question mark, which OpenAPI does not know and documents have all the same. */
  query: [name: string, value: string][];
}

/** Throws where it leads astray. */
export function checkedPath(path: string): CheckedPath {
  if (!path.startsWith('/')) throw new Unusable('Its path does not begin with a slash');
  if (path.length > longest) throw new Unusable(`Its path has more than ${longest} characters`);
  const [whole = '', fragment = ''] = path.split('#', 2);
  if (fragment.includes('/')) throw new Unusable('Its path has a # in the middle');
  // Spaces and what is not ASCII are percent-encoded later; these would end the request line or be read as something else.
  if (/[\p{Cc}\\]/u.test(whole)) throw new Unusable('Its path has a control character or a backslash in it');
  const [plain = '', query = ''] = whole.split(/\?(.*)/);
  if (/[{}]/.test(query)) throw new Unusable('Its path has a query with parameters in it: they have to be described as such');
  const literal = plain.replaceAll(/\{[^{}]*\}/g, 'x');
  if (/[{}]/.test(literal)) throw new Unusable('The braces in its path do not match');
  if (literal.split('/').some(isDotSegment)) throw new Unusable('Its path has . or .. in it');
  return { path: plain, query: [...new URLSearchParams(query)] };
}

/** RFC 3986 §5.2.4, also written in percent. */
export function isDotSegment(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}

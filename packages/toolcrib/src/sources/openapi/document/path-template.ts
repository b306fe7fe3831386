import { Unusable } from '../../documents/unusable.ts';

const longest = 2048;

/** The names in braces. */
export function templateNames(path: string): string[] {
  return [...new Set(Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name = '']) => name))];
}

/** A path as it is appended to a server, without the fragment that some documents use to tell operations apart. */
export interface CheckedPath {
  path: string;
  /** The query in the path, which OpenAPI does not allow but some documents have. */
  query: [name: string, value: string][];
}

/** Throws `Unusable` if the path is malformed or could lead elsewhere. */
export function checkedPath(path: string): CheckedPath {
  if (!path.startsWith('/')) throw new Unusable('The path must begin with a slash');
  if (path.length > longest) throw new Unusable(`The path has more than ${longest} characters`);
  const [whole = '', fragment = ''] = path.split('#', 2);
  if (fragment.includes('/')) throw new Unusable('The path has a # in the middle');
  // Spaces and non-ASCII characters are percent-encoded later; these would end the request line or be misread.
  if (/[\p{Cc}\\]/u.test(whole)) throw new Unusable('The path contains a control character or a backslash');
  const [plain = '', query = ''] = whole.split(/\?(.*)/);
  if (/[{}]/.test(query)) throw new Unusable('The path has a query with parameters in it: describe them as query parameters instead');
  const literal = plain.replaceAll(/\{[^{}]*\}/g, 'x');
  if (/[{}]/.test(literal)) throw new Unusable('The braces in the path do not match');
  if (literal.split('/').some(isDotSegment)) throw new Unusable('The path has . or .. in it');
  return { path: plain, query: [...new URLSearchParams(query)] };
}

/** RFC 3986 §5.2.4, also percent-encoded. */
export function isDotSegment(segment: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(segment);
}

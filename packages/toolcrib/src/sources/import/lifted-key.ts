import { hasReference, looksSecret } from '../../secrets/secret-looks.ts';
import type { Fields } from './fields.ts';
import { withBraces } from './utcp-variables.ts';

/**
 * Moves a key from a template's `url` to its `auth`, so that no secret is stored with the manual. Throws if the template has more than one
 * credential.
 */
export function liftedKey(template: Fields): Fields {
  const { url: written, auth } = template;
  if (typeof written !== 'string') return template;
  const url = withBraces(written);
  if (/^[a-z]+:\/\/[^/?#]*@/i.test(url)) throw new Error('url: move the user name and password to auth (basic)');
  const question = url.indexOf('?');
  const pairs = question < 0 ? [] : url.slice(question + 1).split('&');
  const secrets = pairs.filter(isSecret);
  const [only, ...more] = secrets;
  if (only === undefined) return { ...template, url };
  if (more.length > 0 || (auth !== undefined && auth !== null))
    throw new Error('url: it has a key in addition to another credential. Keep only one credential');
  const others = pairs.filter((pair) => pair !== only);
  const [name, value] = partsOf(only);
  const address = url.slice(0, question);
  return {
    ...template,
    url: others.length === 0 ? address : `${address}?${others.join('&')}`,
    auth: { auth_type: 'api_key', api_key: value, var_name: name, location: 'query' },
  };
}

function isSecret(pair: string): boolean {
  const [name, value] = partsOf(pair);
  // A placeholder is filled with an argument of the caller.
  return hasReference(value) || (value !== '' && looksSecret(name) && !value.startsWith('{'));
}

function partsOf(pair: string): [name: string, value: string] {
  const [name = '', value = ''] = pair.split(/=(.*)/s);
  return [decoded(name), decoded(value)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

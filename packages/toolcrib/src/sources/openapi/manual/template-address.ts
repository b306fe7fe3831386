import type { HttpParameter } from '../../../model/http-operation.ts';
import { looksSecret } from '../../../secrets/secret-looks.ts';
import { checkedPath, templateNames } from '../document/path-template.ts';
import { Unusable } from '../../documents/unusable.ts';

/** The address of a call template, split into the fields of an operation. */
export interface TemplateAddress {
  server: string;
  /** Including the fixed part of the query. */
  path: string;
  /** The placeholders in the path and the query. */
  parameters: HttpParameter[];
}

const longest = 4096;

/** Throws `Unusable` if calls cannot be sent to the address, or if a caller could choose the host. */
export function templateAddress(url: string, serverUrl: string | null): TemplateAddress {
  if (url.length > longest) throw new Unusable(`The url has more than ${longest} characters`);
  if (url.includes('${')) throw new Unusable('The url contains a variable: write out the address, and put keys into auth');
  const [, origin = '', plain = '', query = ''] = /^(https?:\/\/[^/?#\\]+)([^?#]*)(?:\?([^#]*))?/i.exec(url.trim()) ?? [];
  const server = URL.parse(origin);
  if (server === null || /[{}]/.test(origin)) throw new Unusable('The url must be an http or https address with a fixed host');
  if (server.username !== '' || server.password !== '')
    throw new Unusable('The url contains a user: put the name and the password into auth');
  const { path } = checkedPath(plain === '' ? '/' : plain);
  const inPath = templateNames(path).map((name) => placed({ argument: name, name, in: 'path', style: 'simple' }));
  const pairs = query.split('&').filter((pair) => pair !== '');
  const inQuery = pairs.flatMap((pair) => parameterOf(pair) ?? []);
  const fixed = pairs.filter((pair) => !/[{}]/.test(pair));
  return {
    server: serverUrl ?? server.origin,
    path: fixed.length === 0 ? path : `${path}?${fixed.join('&')}`,
    parameters: [...inPath, ...inQuery],
  };
}

function placed(parameter: Pick<HttpParameter, 'argument' | 'name' | 'in' | 'style'>): HttpParameter {
  return { ...parameter, required: true, explode: false, allow_reserved: false, content_type: null };
}

/** Undefined if the pair is fixed. */
function parameterOf(pair: string): HttpParameter | undefined {
  const [, written = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
  const name = decoded(written);
  const [, argument] = /^\{([^{}]+)\}$/.exec(value) ?? [];
  if (argument !== undefined && !/[{}]/.test(name)) return placed({ argument, name, in: 'query', style: 'form' });
  if (/[{}]/.test(pair))
    throw new Unusable(`The query of the url contains ${pair}: a placeholder must be a whole value, as in name={argument}`);
  if (value !== '' && looksSecret(name))
    throw new Unusable(`The query of the url contains the key ${name}: put it into auth (api_key, location query)`);
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

import type { HttpParameter } from '../../../model/http-operation.ts';
import { looksSecret } from '../../registration/secret-looks.ts';
import { checkedPath, templateNames } from '../document/path-template.ts';
import { Unusable } from '../document/unusable.ts';

/** The address of a call template, taken apart as an operation has it. */
export interface TemplateAddress {
  server: string;
  /** With what the address says outright behind a question mark. */
  path: string;
  /** The arguments that stand in the path or in the query. */
  parameters: HttpParameter[];
}

const longest = 4096;

/** Throws `Unusable` where calls could not be sent there, or a caller could choose where they go. */
export function templateAddress(url: string, serverUrl: string | null): TemplateAddress {
  if (url.length > longest) throw new Unusable(`Its url has more than ${longest} characters`);
  if (url.includes('${')) throw new Unusable('Its url has a variable in it: write the address itself, and put a key into auth');
  const [, origin = '', plain = '', query = ''] = /^(https?:\/\/[^/?#\\]+)([^?#]*)(?:\?([^#]*))?/i.exec(url.trim()) ?? [];
  const server = URL.parse(origin);
  if (server === null || /[{}]/.test(origin)) throw new Unusable('Its url is no http or https address whose host is written out');
  if (server.username !== '' || server.password !== '')
    throw new Unusable('Its url has a user in it: put the name and the password into auth');
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

/** Undefined where the pair is what it is. */
function parameterOf(pair: string): HttpParameter | undefined {
  const [, written = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
  const name = decoded(written);
  const [, argument] = /^\{([^{}]+)\}$/.exec(value) ?? [];
  if (argument !== undefined && !/[{}]/.test(name)) return placed({ argument, name, in: 'query', style: 'form' });
  if (/[{}]/.test(pair))
    throw new Unusable(`Its url has ${pair} in the query: a placeholder has to be a whole value, as in name={argument}`);
  if (value !== '' && looksSecret(name))
    throw new Unusable(`Its url has the key ${name} in it: put it into auth (api_key, location query)`);
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

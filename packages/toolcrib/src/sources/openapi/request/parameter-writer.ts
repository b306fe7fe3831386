import type { HttpParameter, ParameterStyle } from '../../../model/http-operation.ts';
import type { Json } from '../../../model/json.ts';
import { checkHeaderName } from '../../upstream/header-rules.ts';
import { argumentText, jsonText } from './argument-text.ts';
import { badArgument } from './bad-argument.ts';
import { expandStyle } from './expand-style.ts';
import { isJsonType } from '../../upstream/http/media-type.ts';
import { encodeAllButReserved, percentEncode } from './percent-encode.ts';
import { writeForm } from './write-form.ts';

/** [OAS-2] Writes the argument of one parameter for its place in the request. */
export interface ParameterWriter {
  argument: string;
  /** Undefined if there is nothing to write. */
  write(value: Json): string | undefined;
}

/** Prepares once everything that does not depend on the value. */
export function parameterWriter(parameter: HttpParameter): ParameterWriter {
  const { argument } = parameter;
  return { argument, write: parameter.content_type === null ? styled(parameter) : inMediaType(parameter, parameter.content_type) };
}

function styled(parameter: HttpParameter): ParameterWriter['write'] {
  const { argument, explode, allow_reserved } = parameter;
  const common = { argument, explode };
  switch (parameter.in) {
    case 'path':
    case 'query': {
      const place = parameter.in;
      const encode = allow_reserved ? (text: string) => encodeAllButReserved(text, place) : percentEncode;
      const expansion = { ...common, name: percentEncode(parameter.name), style: parameter.style, encode };
      return (value) => expandStyle(value, expansion);
    }
    case 'header': {
      checkHeaderName(parameter.name, `arguments.${argument}`);
      // No percent-encoding: OpenAPI 3.1, appendix D.
      const expansion = { ...common, name: parameter.name, style: 'simple' as const, encode: (text: string) => headerText(text, argument) };
      return (value) => expandStyle(value, expansion);
    }
    case 'cookie': {
      const verbatim = parameter.style === 'cookie';
      const style: ParameterStyle = verbatim ? 'cookie' : 'form';
      const encode = verbatim ? (text: string) => cookieText(text, argument) : percentEncode;
      // Every style separates cookies by a semicolon (RFC 6265 §4.2.1): an ampersand would be part of the first cookie's value.
      const expansion = { ...common, name: cookieName(parameter), style, encode, separator: '; ' };
      return (value) => expandStyle(value, expansion);
    }
    case 'querystring':
      return (value) => writeForm(value, argument, {});
  }
}

function inMediaType(parameter: HttpParameter, contentType: string): ParameterWriter['write'] {
  const { argument, name } = parameter;
  const isJson = isJsonType(contentType);
  const text = (value: Json) => (typeof value === 'string' && !isJson ? argumentText(value, argument) : JSON.stringify(value));
  switch (parameter.in) {
    case 'path':
      return (value) => percentEncode(text(value));
    case 'query':
      return (value) => `${percentEncode(name)}=${percentEncode(text(value))}`;
    case 'querystring':
      if (isJson) return (value) => percentEncode(text(value));
      return (value) => (typeof value === 'string' ? encodeAllButReserved(text(value), 'querystring') : writeForm(value, argument, {}));
    case 'header':
      checkHeaderName(name, `arguments.${argument}`);
      return (value) => headerText(isJson || typeof value !== 'string' ? jsonText(value) : value, argument);
    case 'cookie':
      return (value) => `${cookieName(parameter)}=${percentEncode(text(value))}`;
  }
}

function headerText(text: string, argument: string): string {
  // RFC 9110 §5.5. A line break would begin another header.
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw badArgument(argument, 'becomes a header, which cannot contain control characters or letters outside Latin-1');
}

function cookieName({ argument, name }: HttpParameter): string {
  if (/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) return name;
  throw badArgument(argument, 'has a name that is not valid for a cookie: correct the document');
}

/** RFC 6265 §4.1.1. */
function cookieText(text: string, argument: string): string {
  if (/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(text)) return text;
  throw badArgument(argument, 'is sent verbatim as a cookie: percent-encode spaces, commas, semicolons, quotes and letters outside ASCII');
}

import { getIntrospectionQuery, type IntrospectionOptions } from 'graphql/utilities';
import { CribError } from '../../../model/crib-error.ts';
import { isObject, parsedJson } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import { errorsIn, errorWords } from '../call/graphql-errors.ts';

/** Sends this body to the service. Resolves with any status: the caller decides what it means. */
export type AskService = (body: string) => Promise<{ status: number; text: string }>;

/** From the newest introspection fields to those that every service knows: older services refuse a query with an unknown field. */
const questions: readonly IntrospectionOptions[] = [
  { specifiedByUrl: true, inputValueDeprecation: true, schemaDescription: true, oneOf: true },
  { specifiedByUrl: true, inputValueDeprecation: true, schemaDescription: true },
  {},
];
/** A longer response is only parsed in the isolated process. Error responses are never that long. */
const mostLookedAt = 65_536;

/** Fetches a service's schema by introspection: the text of its response. */
export async function introspect(ask: AskService, redact: (text: string) => string): Promise<string> {
  let words = '';
  for (const question of questions) {
    const query = getIntrospectionQuery(question);
    const { status, text } = await ask(JSON.stringify({ query, operationName: 'IntrospectionQuery' }));
    if (status === 401 || status === 403) throw refused(status);
    if (status === 404 || status === 405 || status >= 500 || (status >= 300 && status < 400)) throw notThere(status);
    if (status < 300 && text.length > mostLookedAt) return text;
    const answer = text.length > mostLookedAt ? undefined : parsedJson(text);
    if (!isObject(answer)) throw notGraphql(status, text);
    const { data } = answer;
    if (status < 300 && isObject(data) && isObject(data['__schema'])) return text;
    words = redact(errorWords(errorsIn(answer)).slice(0, 500));
  }
  const what = words === '' ? 'The service does not return its schema' : `The service does not return its schema: ${words}`;
  const message = `${what}. Give the schema in graphql.url, graphql.file or graphql.text`;
  throw new CribError('SERVICE_UNAVAILABLE', message, { retryable: false });
}

function refused(status: number): CribError {
  const message = `The service refused introspection (${status}). If introspection needs another credential, give a discovery_credential; otherwise give the schema in graphql.url, graphql.file or graphql.text`;
  return new CribError('SERVICE_UNAVAILABLE', message, { upstreamStatus: status, retryable: false });
}

function notThere(status: number): CribError {
  const hint = status < 500 ? '. Is this the address of a GraphQL endpoint?' : '';
  return new CribError('NETWORK_ERROR', `The service answered introspection with status ${status}${hint}`, { upstreamStatus: status });
}

function notGraphql(status: number, text: string): ProtocolError {
  const what = /^\s*</.test(text) ? 'an HTML or XML page' : 'something else';
  return new ProtocolError(`The service answered introspection with ${what}. Is this the address of a GraphQL endpoint?`, {
    upstreamStatus: status,
  });
}

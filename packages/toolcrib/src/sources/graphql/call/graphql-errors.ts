import type { ErrorCode } from '../../../model/error-code.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';

/** One error of a response: https://spec.graphql.org/September2025/#sec-Errors */
export interface GraphqlError {
  message: string;
  path: (string | number)[];
  /** The service's code for the error; empty if it gives none. */
  code: string;
}

const mostShown = 5;
const longestMessage = 500;

const codes: Record<string, ErrorCode> = {
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  UNAUTHORIZED: 'UNAUTHENTICATED',
  FORBIDDEN: 'FORBIDDEN',
  ACCESS_DENIED: 'FORBIDDEN',
  PERMISSION_DENIED: 'FORBIDDEN',
  INSUFFICIENT_SCOPES: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  CONFLICT: 'CONFLICT',
  BAD_USER_INPUT: 'VALIDATION_ERROR',
  BAD_REQUEST: 'VALIDATION_ERROR',
  VALIDATION_ERROR: 'VALIDATION_ERROR',
  GRAPHQL_VALIDATION_FAILED: 'VALIDATION_ERROR',
  GRAPHQL_PARSE_FAILED: 'VALIDATION_ERROR',
  RATE_LIMITED: 'RATE_LIMITED',
  THROTTLED: 'RATE_LIMITED',
  TOO_MANY_REQUESTS: 'RATE_LIMITED',
};

export function errorsIn(answer: JsonObject): GraphqlError[] {
  const { errors } = answer;
  return Array.isArray(errors) ? errors.map(errorOf) : [];
}

function errorOf(error: Json): GraphqlError {
  const { message, path, extensions, type } = isObject(error) ? error : ({ message: error } as JsonObject);
  // GitHub has the code in `type` beside the message, graphql-java in `extensions.classification`.
  const candidates = isObject(extensions) ? [extensions['code'], extensions['classification'], type] : [type];
  return {
    message: typeof message === 'string' && message !== '' ? message : 'The service gave no error message',
    path: Array.isArray(path) ? path.filter((part) => typeof part === 'string' || typeof part === 'number') : [],
    code: candidates.find((code): code is string => typeof code === 'string' && code !== '')?.slice(0, 100) ?? '',
  };
}

/** The errors as text for the caller: `Could not resolve to a User (NOT_FOUND, at user)`. */
export function errorWords(errors: readonly GraphqlError[]): string {
  const lines = errors.slice(0, mostShown).map(({ message, path, code }) => {
    const place = path.length === 0 ? '' : `at ${path.join('.').slice(0, 200)}`;
    const notes = [code, place].filter((note) => note !== '').join(', ');
    const words = message.length > longestMessage ? `${message.slice(0, longestMessage).toWellFormed()}…` : message;
    return notes === '' ? words : `${words} (${notes})`;
  });
  const more = errors.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

/** Our code for the first error that has a well-known code; undefined if none has. */
export function codeOf(errors: readonly GraphqlError[]): ErrorCode | undefined {
  const known = errors.map(({ code }) => code.toUpperCase()).find((code) => Object.hasOwn(codes, code));
  return known === undefined ? undefined : codes[known];
}

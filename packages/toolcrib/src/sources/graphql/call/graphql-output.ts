import type { ToolOutput } from '../../../model/call.ts';
import { parseExactJson } from '../../../model/exact-json.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import type { Origin } from '../../../model/origin.ts';
import { codeOf, errorsIn, errorWords, type GraphqlError } from './graphql-errors.ts';

interface AnsweredText {
  /** The field that was queried. */
  field: string;
  text: string;
  contentType: string;
  status: number;
  metadata: JsonObject;
  /** Whether every user has their own credential, so that only the caller can fix a refused one. */
  perUser: boolean;
}

/**
 * Turns a service's response into a result with the same `data` and `errors`. The call fails if there is no data, or if the field is null
 * because of an error. If only parts of the field are, the result is marked as partial.
 */
export function graphqlOutput({ field, text, contentType, status, metadata, perUser }: AnsweredText): ToolOutput {
  let large = 0;
  const answer = parsed(text, () => large++);
  if (!isObject(answer) || !(Object.hasOwn(answer, 'data') || Array.isArray(answer['errors']))) throw notGraphql(contentType, text, status);
  if (large > 0) metadata['integers_as_text'] = large;
  const data = answer['data'] ?? null;
  const errors = errorsIn(answer);
  if (errors.length === 0 && data !== null) return { content: [{ type: 'text', text }], structured_content: { data }, metadata };
  const structured: JsonObject = { data, errors: answer['errors'] ?? [] };
  if (isFailed(field, data, errors)) {
    const words = errors.length === 0 ? 'The service returned neither data nor an error' : errorWords(errors);
    const failure = failureOf(errors, perUser);
    return {
      content: [{ type: 'text', text: words }],
      structured_content: structured,
      is_error: true,
      ...(failure && { failure }),
      metadata,
    };
  }
  metadata['partial'] = true;
  const content = [
    { type: 'text', text: `The result is partial. The rest failed:\n${errorWords(errors)}` },
    { type: 'text', text: JSON.stringify(structured) },
  ];
  return { content, structured_content: structured, metadata };
}

function parsed(text: string, onLarge: () => void): Json | undefined {
  try {
    return parseExactJson(text, onLarge);
  } catch {
    return undefined;
  }
}

/** An error without a path concerns the whole response. */
function isFailed(field: string, data: Json, errors: readonly GraphqlError[]): boolean {
  if (!isObject(data)) return true;
  const value = Object.hasOwn(data, field) ? data[field] : null;
  return value === null && errors.some(({ path }) => path.length === 0 || path[0] === field);
}

/** The failure is the tool's own, unless it would affect any call: a refused credential or a rate limit. */
function failureOf(errors: readonly GraphqlError[], perUser: boolean): ToolOutput['failure'] {
  const code = codeOf(errors);
  if (code === undefined) return undefined;
  const isOfCredential = code === 'UNAUTHENTICATED' || code === 'FORBIDDEN';
  const origin: Origin = isOfCredential ? (perUser ? 'caller' : 'source') : code === 'RATE_LIMITED' ? 'source' : 'tool';
  return { code, origin };
}

function notGraphql(contentType: string, text: string, status: number): ProtocolError {
  const isPage = /^\s*</.test(text);
  const what = isPage ? 'an HTML or XML page' : contentType === '' ? 'something else' : contentType.slice(0, 100);
  const message = `The service did not return a GraphQL response, but ${what}. Is this the address of a GraphQL endpoint?`;
  return new ProtocolError(message, { upstreamStatus: status });
}

import type { HttpOperation, HttpParameter, HttpRequestBody, PartEncoding } from '../../../src/model/http-operation.ts';

/** An operation by hand, with nothing in it but what a test says. */
export function httpOperation(given: Partial<HttpOperation> = {}): HttpOperation {
  return {
    operation_id: null,
    method: 'GET',
    path: '/',
    server: 'https://api.example.org',
    parameters: [],
    body: null,
    security: [],
    sends_credential: true,
    accept: 'application/json',
    pagination: null,
    poll: null,
    ...given,
  };
}

const styles = { path: 'simple', query: 'form', querystring: 'form', header: 'simple', cookie: 'form' } as const;

/** With the defaults that OpenAPI gives each place. */
export function httpParameter(name: string, place: HttpParameter['in'], given: Partial<HttpParameter> = {}): HttpParameter {
  const style = given.style ?? styles[place];
  return {
    argument: name,
    name,
    in: place,
    required: place === 'path',
    style,
    explode: style === 'form' || style === 'cookie',
    allow_reserved: false,
    content_type: null,
    ...given,
  };
}

export function httpBody(kind: HttpRequestBody['kind'], content_type: string, encoding: HttpRequestBody['encoding'] = {}): HttpRequestBody {
  return { argument: 'body', required: true, kind, content_type, encoding };
}

export function partEncoding(given: Partial<PartEncoding> = {}): PartEncoding {
  return { content_type: null, style: null, explode: true, allow_reserved: false, binary: false, headers: {}, ...given };
}

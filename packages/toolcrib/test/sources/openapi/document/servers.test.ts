import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { compiled, documentOf, onlyTool, operationOf } from './compiled.ts';

interface Given {
  /** Of the document, and below it of the path item and the operation. */
  servers?: JsonObject[];
  root?: JsonObject;
  operation?: JsonObject;
  serverUrl?: string;
  serverVariables?: Record<string, string>;
  url?: string | null;
}

/** Where the only operation goes, or why it goes nowhere. */
function serverOf({
  servers,
  root = {},
  operation = {},
  serverUrl,
  serverVariables = {},
  url = 'https://docs.example/v1/api.json',
}: Given): string {
  const { servers: _none, ...document } = documentOf(operation);
  const made = compiled(
    { ...document, ...(servers === undefined ? {} : { servers }), ...root },
    { url: url === null ? null : new URL(url), serverUrl: serverUrl ?? null, serverVariables },
  );
  const [skipped] = made.report.skipped;
  return skipped?.reason ?? operationOf(onlyTool(made)).server;
}

const old = (more: JsonObject): Given['root'] => ({ openapi: undefined as never, swagger: '2.0', ...more });
const region = { url: 'https://{region}.example/{base}', variables: { region: { default: 'eu' }, base: { default: 'v2' } } };

describe('[OAS-4] the server of a request', () => {
  test.each<[string, Given, string]>([
    ['the first of the document', { servers: [{ url: 'https://a.example/' }, { url: 'https://b.example' }] }, 'https://a.example'],
    [
      'of the operation',
      { servers: [{ url: 'https://a.example' }], operation: { servers: [{ url: 'https://b.example/x' }] } },
      'https://b.example/x',
    ],
    [
      'the one that was given',
      { servers: [{ url: 'https://a.example' }], serverUrl: 'http://127.0.0.1:8080/api/' },
      'http://127.0.0.1:8080/api',
    ],
    ['none is named', {}, 'https://docs.example'],
    ['beside the document', { servers: [{ url: 'api' }] }, 'https://docs.example/v1/api'],
    ['above the document', { servers: [{ url: '../v3' }] }, 'https://docs.example/v3'],
    ['with the values of the document', { servers: [region] }, 'https://eu.example/v2'],
    ['with values that were given', { servers: [region], serverVariables: { region: 'us', base: 'v3/x' } }, 'https://us.example/v3/x'],
    [
      'with a whole address as value',
      { servers: [{ url: '{base}/v1', variables: { base: { default: 'https://a.example' } } }] },
      'https://a.example/v1',
    ],
    [
      'with a path as value',
      { servers: [{ url: 'https://a.example{base}', variables: { base: { default: '/v1' } } }] },
      'https://a.example/v1',
    ],
    ['of 2.0', { root: old({ host: 'a.example', basePath: '/v1', schemes: ['http', 'https'] }) }, 'https://a.example/v1'],
    ['of 2.0 without a scheme', { root: old({ host: 'a.example:8443' }), url: 'http://docs.example' }, 'http://a.example:8443'],
    ['of 2.0 without a host', { root: old({ basePath: '/v1' }) }, 'https://docs.example/v1'],
    ['of 2.0 by its operation', { root: old({ host: 'a.example' }), operation: { schemes: ['http'] } }, 'http://a.example'],
    [
      'the second where the first is of no use',
      { servers: [{ url: 'ws://a.example' }, { url: 'https://b.example' }] },
      'https://b.example',
    ],
  ])('is the nearest one that is named: %s', (_, given, expected) => {
    expect(serverOf(given)).toBe(expected);
  });
});

describe('[OAS-4] the address of a server', () => {
  test.each<[string, Given, RegExp]>([
    ['a document without an address', { url: null }, /give server_url/],
    ['a document that is a file', { url: 'file:///srv/api.json', servers: [{ url: '/v1' }] }, /give server_url/],
    ['of 2.0 without any host', { url: null, root: old({ basePath: '/v1' }) }, /names no host: give server_url/],
    ['another way of speaking', { servers: [{ url: 'file:///etc/passwd' }] }, /uses file, but only http and https/],
    ['a script', { servers: [{ url: 'javascript:alert(1)' }] }, /uses javascript, but only http and https/],
    ['a user', { servers: [{ url: 'https://user:pass@a.example' }] }, /has a user/],
    ['a query', { servers: [{ url: 'https://a.example?x=1' }] }, /query or a fragment/],
    ['dots', { servers: [{ url: 'https://a.example/v1/../admin' }] }, /has \. or \.\./],
    ['dots in percent', { servers: [{ url: 'https://a.example/v1/%2E%2e/admin' }] }, /has \. or \.\./],
    ['no address at all', { servers: [{ url: 'https://' }] }, /is not a valid address/],
    ['a variable without a value', { servers: [{ url: 'https://{x}.example' }] }, /needs x: give it in server_variables/],
    ['a host smuggled in', { servers: [region], serverVariables: { region: 'evil.example/' } }, /region of the server .* may not be/],
    [
      'a host smuggled in by the document',
      { servers: [{ url: 'https://{x}.example', variables: { x: { default: 'evil.example#' } } }] },
      /may not be/,
    ],
    [
      'a host smuggled in where none is',
      { servers: [{ url: 'https://{x}', variables: { x: { default: '/evil.example' } } }] },
      /may not be/,
    ],
    ['a user smuggled in', { servers: [region], serverVariables: { region: 'a@evil' } }, /may not be/],
    ['a way up smuggled in', { servers: [region], serverVariables: { base: '../x' } }, /may not be/],
    [
      'a value that is not among those allowed',
      { servers: [{ url: 'https://{x}.example', variables: { x: { default: 'a', enum: ['a'] } } }], serverVariables: { x: 'b' } },
      /use one of a$/,
    ],
  ])('is refused if it leads elsewhere: %s', (_, given, reason) => {
    expect(serverOf(given)).toMatch(reason);
  });
});

import { expect, test } from 'vitest';
import { openApiDefinitionSchema } from '../../../src/sources/openapi/openapi-definition.ts';
import { hasMoved } from '../../../src/sources/source-registrations.ts';

const define = (fields: object) => openApiDefinitionSchema.parse({ document: { url: 'https://docs.example/a.json' }, ...fields });
const server_url = 'https://api.example';
const discovery_credential = { type: 'bearer', token: { secret_ref: 'x' } };

const cases: [what: string, before: object, after: object, moved: boolean][] = [
  ['nothing else', {}, {}, false],
  ['another time limit', {}, { resilience: { requestTimeoutMs: 5 } }, false],
  ['another document on the same host', {}, { document: { url: 'https://docs.example/b.json' } }, true],
  ['a pasted document', {}, { document: { stored: 'abc' } }, true],
  ['another pasted document', { document: { stored: 'abc' } }, { document: { stored: 'def' } }, true],
  ['another file', { document: { file: '/a.json' } }, { document: { file: '/b.json' } }, true],
  ['other server variables', {}, { server_variables: { tenant: 'blue' } }, true],
  ['other origins', { origins: ['https://a.example'] }, { origins: ['https://a.example', 'https://b.example'] }, true],
  ['a server', {}, { server_url }, true],
  ['no server any more', { server_url }, {}, true],
  ['another path of the server', { server_url }, { server_url: `${server_url}/v2` }, false],
  ['another document, with the same server', { server_url }, { server_url, document: { stored: 'abc' } }, false],
  [
    'another host for the document, with a credential for it',
    { server_url, discovery_credential },
    { server_url, discovery_credential, document: { url: 'https://elsewhere.example/a.json' } },
    true,
  ],
  [
    'another path of the document, with a credential for it',
    { server_url, discovery_credential },
    { server_url, discovery_credential, document: { url: 'https://docs.example/b.json' } },
    false,
  ],
];

test.each(cases)('[ENV-4] secrets must be given again, or not, after a change of %s', (_what, before, after, moved) => {
  expect(hasMoved({ source_type: 'openapi', definition: define(before) }, define(after))).toBe(moved);
});

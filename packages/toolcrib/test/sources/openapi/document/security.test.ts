import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/model/json.ts';
import { compiled, documentOf, onlyTool, operationOf } from './compiled.ts';

describe('[OAS-4] the security of an operation', () => {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'query', name: 'api_key' },
    user: { type: 'http', scheme: 'Basic' },
    token: { type: 'http', scheme: 'bearer' },
    machine: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/token', scopes: {} } } },
    person: { type: 'oauth2', flows: { authorizationCode: {}, clientCredentials: {} } },
    login: { type: 'openIdConnect', openIdConnectUrl: 'https://a.example' },
    mutual: { type: 'mutualTLS' },
  };
  const securityOf = (operation: JsonObject, more: JsonObject = {}) => {
    const { report, ...made } = compiled(documentOf(operation, { components: { securitySchemes }, ...more }));
    const { security, sends_credential } = operationOf(onlyTool({ report, ...made }));
    return { schemes: security.map((alternative) => alternative.map(({ scheme }) => scheme)), sends_credential, report };
  };

  test.each<[string, JsonObject, JsonObject, string[][], boolean]>([
    ['of the document', {}, { security: [{ key: [] }] }, [['key']], true],
    [
      'of the operation',
      { security: [{ user: [] }, { token: [], key: [] }] },
      { security: [{ key: [] }] },
      [['user'], ['token', 'key']],
      true,
    ],
    ['that is not wanted', { security: [] }, { security: [{ key: [] }] }, [], false],
    ['that may be left out', { security: [{}, { key: [] }] }, {}, [[], ['key']], true],
    ['of which nothing is said anywhere', {}, {}, [], true],
    ['of nothing', { security: [{}] }, {}, [], false],
  ])('is understood: one %s', (_, operation, more, schemes, sends_credential) => {
    expect(securityOf(operation, more)).toMatchObject({ schemes, sends_credential });
  });

  test('[OAS-4] gives the report a suggested credential for each kind', () => {
    const all = Object.keys(securitySchemes).map((name) => ({ [name]: ['a'] }));
    const { report } = securityOf({ security: all });
    expect(report.security.map(({ scheme, type, credential }) => [scheme, type, credential])).toEqual([
      ['key', 'api_key', { type: 'api_key', in: 'query', name: 'api_key', value: '${KEY}' }],
      ['user', 'basic', { type: 'basic', username: '', password: '${USER_PASSWORD}' }],
      ['token', 'bearer', { type: 'bearer', token: '${TOKEN}' }],
      [
        'machine',
        'oauth2',
        { type: 'client_credentials', client_id: '', client_secret: '${MACHINE_CLIENT_SECRET}', token_url: 'https://docs.example/token' },
      ],
      ['person', 'oauth2', { type: 'oauth' }],
      ['login', 'openid', { type: 'oauth' }],
      ['mutual', 'mutual_tls', null],
    ]);
  });
});

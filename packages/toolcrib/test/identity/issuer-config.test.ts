import { expect, test } from 'vitest';
import { issuerConfigSchema } from '../../src/identity/issuer-config.ts';

const good = { issuer: 'https://id.example.org/realms/a', audience: 'toolcrib-gateway' };

test.each([
  ['the least there is', {}],
  ['several audiences', { audience: ['a', 'b'] }],
  ['everything', { jwks_uri: 'https://keys.example.org/', algorithms: ['ES256', 'EdDSA'], token_type: 'at+jwt', allow_insecure: false }],
  ['plain http on loopback', { issuer: 'http://127.0.0.1:7300/dev', jwks_uri: 'http://localhost:7300/dev/jwks' }],
  ['plain http where it is allowed', { issuer: 'http://id.internal/', allow_insecure: true }],
])('[ID-1] an issuer is configured with %s', (_name, change) => {
  expect(issuerConfigSchema.parse({ ...good, ...change })).toEqual({ ...good, ...change });
});

test.each([
  ['an unknown field', { secret: 'x' }],
  ['no audience', { audience: undefined }],
  ['an empty audience', { audience: '' }],
  ['an empty list of audiences', { audience: [] }],
  ['HS256', { algorithms: ['HS256'] }],
  ['no signature', { algorithms: ['none'] }],
  ['an empty list of algorithms', { algorithms: [] }],
  ['an issuer that is no address', { issuer: 'id.example.org' }],
  ['an issuer with a space', { issuer: 'https://id.example.org/a b' }],
  ['an issuer with a line break at its end', { issuer: 'https://id.example.org\n' }],
  ['an issuer with a password', { issuer: 'https://a:b@id.example.org' }],
  ['plain http elsewhere', { issuer: 'http://id.example.org' }],
  ['keys over plain http elsewhere', { jwks_uri: 'http://id.example.org' }],
  ['keys in a file', { jwks_uri: 'file:///keys' }],
])('[ID-1] an issuer is not configured with %s', (_name, change) => {
  expect(issuerConfigSchema.safeParse({ ...good, ...change }).success).toBe(false);
});

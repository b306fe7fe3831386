import { buildSchema, graphql } from 'graphql';
import { expect, test } from 'vitest';
import { introspect, type AskService } from '../../../src/sources/graphql/discovery/introspect.ts';
import { compiled } from './compiled.ts';

const schema = buildSchema(
  'type Query { pet(by: By @deprecated): Int } input By @oneOf { id: ID name: String } scalar S @specifiedBy(url: "https://s.example")',
);
const redact = (text: string) => text.replaceAll('s3cret', '***');

/** A service that does not know some of today's fields, or refuses to describe itself. */
function service({ unknown = [], status = 400, refusal }: { unknown?: string[]; status?: number; refusal?: object } = {}) {
  const asked: string[] = [];
  const ask: AskService = async (body) => {
    const { query } = JSON.parse(body) as { query: string };
    asked.push(query);
    if (refusal !== undefined) return { status, text: JSON.stringify(refusal) };
    const missing = unknown.find((word) => query.includes(word));
    if (missing !== undefined) return { status, text: JSON.stringify({ errors: [{ message: `Cannot query field "${missing}"` }] }) };
    return { status: 200, text: JSON.stringify(await graphql({ schema, source: query })) };
  };
  return { asked, ask };
}

test('a service of today is asked once, for all there is', async () => {
  const { asked, ask } = service();
  const { named } = compiled(await introspect(ask, redact));
  expect(asked).toHaveLength(1);
  expect(named('pet').definition.input_schema).toMatchObject({
    properties: { by: { deprecated: true } },
    $defs: { By: { maxProperties: 1 } },
  });
});

test.each([
  ['without @oneOf', ['isOneOf'], 200, 2],
  ['of years ago', ['isOneOf', 'specifiedByURL'], 400, 3],
])('a service %s is asked for less', async (_what, unknown, status, times) => {
  const { asked, ask } = service({ unknown, status });
  expect(compiled(await introspect(ask, redact)).tools).toHaveLength(1);
  expect(asked).toHaveLength(times);
});

test('a service that does not return its schema gets the advice to give the schema', async () => {
  const { ask } = service({ refusal: { errors: [{ message: 'Introspection is disabled, s3cret' }] }, status: 200 });
  await expect(introspect(ask, redact)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: false,
    message:
      'The service does not return its schema: Introspection is disabled, ***. Give the schema in graphql.url, graphql.file or graphql.text',
  });
});

test.each([
  [401, 'SERVICE_UNAVAILABLE', 'discovery_credential'],
  [404, 'NETWORK_ERROR', 'Is this the address of a GraphQL endpoint?'],
  [302, 'NETWORK_ERROR', 'status 302'],
  [503, 'NETWORK_ERROR', 'status 503'],
])('the status %i ends it', async (status, code, words) => {
  const { asked, ask } = service({ refusal: {}, status });
  await expect(introspect(ask, redact)).rejects.toMatchObject({ code, upstreamStatus: status, message: expect.stringContaining(words) });
  expect(asked).toHaveLength(1);
});

test('a page in place of an answer is no endpoint', async () => {
  await expect(introspect(async () => ({ status: 200, text: '<html>' }), redact)).rejects.toMatchObject({
    message: expect.stringContaining('an HTML or XML page'),
  });
});

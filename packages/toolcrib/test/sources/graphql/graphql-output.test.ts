import { describe, expect, test } from 'vitest';
import { graphqlOutput } from '../../../src/sources/graphql/call/graphql-output.ts';

const output = (answer: unknown, { perUser = false, contentType = 'application/json' } = {}) =>
  graphqlOutput({
    field: 'pet',
    text: typeof answer === 'string' ? answer : JSON.stringify(answer),
    contentType,
    status: 200,
    metadata: {},
    perUser,
  });

describe('[GQL-3] an answer of a GraphQL service', () => {
  test('with data alone is a result', () => {
    expect(output({ data: { pet: { id: 1 } }, extensions: { cost: 3 } })).toEqual({
      content: [{ type: 'text', text: '{"data":{"pet":{"id":1}},"extensions":{"cost":3}}' }],
      structured_content: { data: { pet: { id: 1 } } },
      metadata: {},
    });
  });

  test('with null for the field and no error is a result too', () => {
    expect(output({ data: { pet: null } })).toMatchObject({ structured_content: { data: { pet: null } } });
    expect(output({ data: { pet: null } })).not.toHaveProperty('is_error');
  });

  test('with data and errors is a partial result that says what failed', () => {
    const errors = [{ message: 'The owner is away', path: ['pet', 'owner'], extensions: { code: 'AWAY' } }];
    const data = { pet: { id: 1, owner: null } };
    const partial = output({ data, errors });
    expect(partial).toMatchObject({ structured_content: { data, errors }, metadata: { partial: true } });
    expect(partial).not.toHaveProperty('is_error');
    expect(partial.content[0]?.text).toBe('The result is partial. The rest failed:\nThe owner is away (AWAY, at pet.owner)');
  });

  test.each([
    ['errors without data', { errors: [{ message: 'No' }] }],
    ['null in place of the data', { data: null, errors: [{ message: 'No', path: ['pet', 'id'] }] }],
    ['null for the field because of an error', { data: { pet: null }, errors: [{ message: 'No', path: ['pet'] }] }],
    ['an error that does not say where', { data: { pet: null }, errors: [{ message: 'No' }] }],
  ])('with %s is the failure of the tool', (_what, answer) => {
    expect(output(answer)).toMatchObject({ is_error: true, content: [{ type: 'text', text: expect.stringMatching(/^No/) }] });
  });

  test.each([
    [{ extensions: { code: 'UNAUTHENTICATED' } }, { code: 'UNAUTHENTICATED', origin: 'source' }, false],
    [{ extensions: { code: 'UNAUTHENTICATED' } }, { code: 'UNAUTHENTICATED', origin: 'caller' }, true],
    [{ extensions: { code: 'FORBIDDEN' } }, { code: 'FORBIDDEN', origin: 'caller' }, true],
    [{ type: 'NOT_FOUND' }, { code: 'NOT_FOUND', origin: 'tool' }, false],
    [{ extensions: { classification: 'ValidationError', code: 'BAD_USER_INPUT' } }, { code: 'VALIDATION_ERROR', origin: 'tool' }, false],
    [{ extensions: { code: 'THROTTLED' } }, { code: 'RATE_LIMITED', origin: 'source' }, false],
    [{ extensions: { code: 'E42' } }, undefined, false],
  ])('%j says whose failure it is', (error, failure, perUser) => {
    expect(output({ errors: [{ message: 'No', ...error }] }, { perUser }).failure).toEqual(failure);
  });

  test('many errors are summed up in a few lines', () => {
    const errors = Array.from({ length: 9 }, (_, index) => ({ message: `No ${index} ${'x'.repeat(1000)}` }));
    const lines = output({ errors: [...errors, 'text', null] }).content[0]?.text?.split('\n') ?? [];
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toBe('and 6 more');
  });

  test('integers that a number would change are text', () => {
    expect(output('{"data":{"pet":{"id":9007199254740993}}}')).toMatchObject({
      structured_content: { data: { pet: { id: '9007199254740993' } } },
      metadata: { integers_as_text: 1 },
    });
  });

  test.each([
    ['a page', '<html><title>Sign in</title>', 'text/html', 'an HTML or XML page'],
    ['text', 'hello', 'text/plain', 'text/plain'],
    ['other JSON', '{"ok":true}', 'application/json', 'application/json'],
    ['nothing', '', '', 'something else'],
  ])('%s is no answer of one', (_what, text, contentType, words) => {
    const failure = { code: 'SERVICE_UNAVAILABLE', retryable: false, upstreamStatus: 200, message: expect.stringContaining(words) };
    expect(() => output(text, { contentType })).toThrow(expect.objectContaining(failure));
  });
});

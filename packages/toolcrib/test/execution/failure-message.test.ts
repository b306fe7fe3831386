import { describe, expect, test } from 'vitest';
import { failureMessage } from '../../src/execution/failure-message.ts';
import { joinedText } from '../../src/execution/shaper.ts';
import type { ToolOutput } from '../../src/model/call.ts';
import type { Json } from '../../src/model/json.ts';

const content = [{ type: 'text', text: 'the text' }];
const messageOf = (output: ToolOutput) => failureMessage(output, joinedText(output.content));
const failed = (structured_content?: Json): ToolOutput => ({ content, structured_content, is_error: true });

describe('[EXEC-4] the message of a failed call', () => {
  const all = { message: 'm', error: { message: 'em' }, detail: 'd' };
  test.each<[string, Json | undefined, string]>([
    ['is the message first', all, 'm'],
    ['is the message before a text for an error', { message: 'm', error: 'e' }, 'm'],
    ['is the error next, where it is text', { error: 'e', detail: 'd' }, 'e'],
    ['is the message of the error next', { error: { message: 'em' }, detail: 'd' }, 'em'],
    ['is the detail next', { detail: 'd' }, 'd'],
    ['is the detail where the error says nothing', { error: {}, detail: 'd' }, 'd'],
    ['skips what is empty', { message: '', error: '', detail: 'd' }, 'd'],
    ['skips what is not text', { message: 7, error: ['x'], detail: { a: 1 } }, 'the text'],
    ['is the text where nothing is structured', undefined, 'the text'],
    ['is the text where the structure is null', null, 'the text'],
    ['is the text where the structure is a list', [{ message: 'm' }], 'the text'],
    ['is the text where the structure is a text', 'm', 'the text'],
    ['is the text where the structure has no message', { foo: 'bar' }, 'the text'],
  ])('%s', (_what, structured, expected) => {
    expect(messageOf(failed(structured))).toBe(expected);
  });

  test('joins several texts', () => {
    expect(messageOf({ content: [...content, { type: 'text', text: 'more' }], is_error: true })).toBe('the text\nmore');
  });

  test('is the raw result if there is no text', () => {
    const output: ToolOutput = { content: [], structured_content: { reason: 5 }, is_error: true };
    expect(messageOf(output)).toBe(JSON.stringify(output));
  });

  test('is cut at 2000 characters if it is the raw result, and only then', () => {
    const raw: ToolOutput = { content: [{ type: 'image', data: 'x'.repeat(5000) }], is_error: true };
    expect(messageOf(raw)).toBe(JSON.stringify(raw).slice(0, 2000));
    expect(messageOf(failed({ message: 'x'.repeat(5000) }))).toHaveLength(5000);
    expect(messageOf({ ...raw, structured_content: { code: 'E_X' } })).toMatch(/^.{2000} \(code=E_X\)$/);
  });
});

describe('[EXEC-4] the message with its suffix', () => {
  test.each<[Json, string]>([
    [{ message: 'm', code: 'E_TIMEOUT', retriable: false }, 'm (code=E_TIMEOUT retriable=false)'],
    [{ message: 'm', code: 'E_TIMEOUT' }, 'm (code=E_TIMEOUT)'],
    [{ message: 'm', retriable: true }, 'm (retriable=true)'],
    [{ message: 'm' }, 'm'],
    [{ message: 'm', errorCode: 'E' }, 'm (code=E)'],
    [{ message: 'm', statusCode: 503 }, 'm (code=503)'],
    [{ message: 'm', code: 0 }, 'm (code=0)'],
    [{ message: 'm', code: 'a', errorCode: 'b', statusCode: 1 }, 'm (code=a)'],
    [{ message: 'm', code: '', errorCode: 'b' }, 'm (code=b)'],
    [{ message: 'm', code: null, errorCode: { a: 1 }, statusCode: 5 }, 'm (code=5)'],
    [{ message: 'm', code: true }, 'm'],
    [{ message: 'm', retryable: 'true' }, 'm (retriable=true)'],
    [{ message: 'm', retryable: 'FALSE' }, 'm (retriable=false)'],
    [{ message: 'm', retriable: 'yes' }, 'm (retriable=true)'],
    [{ message: 'm', retriable: 'No' }, 'm (retriable=false)'],
    [{ message: 'm', retriable: 1 }, 'm (retriable=true)'],
    [{ message: 'm', retriable: 0 }, 'm (retriable=false)'],
    [{ message: 'm', retriable: 2 }, 'm'],
    [{ message: 'm', retriable: 'maybe', retryable: true }, 'm (retriable=true)'],
    [{ message: 'm', retriable: false, retryable: true }, 'm (retriable=false)'],
    [{ message: 'm', retriable: null }, 'm'],
    [{ code: 'E' }, 'the text (code=E)'],
  ])('for %j is %j', (structured, expected) => {
    expect(messageOf(failed(structured))).toBe(expected);
  });
});

import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { pollProfileSchema } from '../../../../src/model/poll-profile.ts';
import { compiled, documentOf, onlyTool, operationOf, swagger2 } from './compiled.ts';

const string = { type: 'string' };

describe('the documented answers of an operation', () => {
  const answering = (responses: JsonObject, parameters: Json[] = [], more: JsonObject = {}) =>
    compiled(documentOf({ responses, parameters }, more, ['get', '/things']));

  test('[OAS-2] decide the Accept header, JSON first', () => {
    const content = { 'text/csv': {}, 'application/geo+json': {}, 'application/json': {}, 'bad type': {} };
    const { accept } = operationOf(onlyTool(answering({ 200: { content }, 404: { content: { 'text/html': {} } } })));
    expect(accept).toBe('application/json, application/geo+json;q=0.9, text/csv;q=0.9');
    expect(operationOf(onlyTool(answering({ 204: {} }))).accept).toBe('*/*');
    const produced = answering({ 200: { schema: { type: 'object' } } }, [], {
      ...swagger2,
      produces: ['application/json', 'application/xml'],
    });
    expect(operationOf(onlyTool(produced)).accept).toBe('application/json, application/xml;q=0.9');
  });

  test('[HTTP-2] may be redirects if no success is documented', () => {
    const answersWith = (responses: JsonObject) => operationOf(onlyTool(answering(responses))).answers_with_redirect;
    expect([answersWith({ 302: {}, 404: {} }), answersWith({ '3XX': {} })]).toEqual([true, true]);
    expect([answersWith({ 200: {}, 301: {} }), answersWith({ 404: {} })]).toEqual([undefined, undefined]);
  });

  const listing = (properties: JsonObject) => ({ 200: { content: { 'application/json': { schema: { type: 'object', properties } } } } });
  const query = (name: string, more: JsonObject = {}) => ({ in: 'query', name, schema: string, ...more });

  test.each<[string, JsonObject, JsonObject, string | null]>([
    ['beside the list', { items: {}, next_cursor: string }, query('cursor'), '/next_cursor'],
    ['beside it in another way', { nextPageToken: { type: 'string', nullable: true } }, query('pageToken'), '/nextPageToken'],
    [
      'within',
      { response_metadata: { type: 'object', properties: { next_cursor: string } } },
      query('cursor'),
      '/response_metadata/next_cursor',
    ],
    ['without a parameter for it', { next_cursor: string }, query('page'), null],
    ['with a parameter that is wanted always', { next_cursor: string }, query('cursor', { required: true }), null],
    ['that is no text', { next_cursor: { type: 'object' } }, query('cursor'), null],
    ['that may be the one that was asked for', { cursor: string }, query('cursor'), null],
  ])('contain a next page, or not: %s', (_, properties, parameter, pointer) => {
    const { pagination } = operationOf(onlyTool(answering(listing(properties), [parameter])));
    expect(pagination).toEqual(pointer === null ? null : { pointer, argument: parameter['name'] });
  });

  test('[POLL-1] suggest polling where an operation only begins, and use a profile if given', () => {
    const responses = { 202: { headers: { Location: { schema: string } } } };
    expect(answering(responses).report.warnings).toEqual([{ operation: 'GET /things', message: expect.stringContaining('async_poll') }]);
    const profile = pollProfileSchema.parse({});
    const polled = compiled(documentOf({ responses }), { asyncPoll: { one: profile, two: profile } });
    expect(onlyTool(polled)).toMatchObject({ execution_mode: 'async_poll', operation: { poll: profile } });
    expect(polled.report.warnings).toEqual([{ operation: null, message: 'async_poll names two, but there is no tool of that name' }]);
  });
});

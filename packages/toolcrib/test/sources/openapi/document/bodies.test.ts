import { describe, expect, test } from 'vitest';
import type { PartEncoding } from '../../../../src/model/http-operation.ts';
import type { Json, JsonObject } from '../../../../src/model/json.ts';
import { argumentOf, compiled, documentOf, onlyTool, operationOf, swagger2 } from './compiled.ts';

const string = { type: 'string' };

describe('[OAS-2] a request body', () => {
  const bodyOf = (requestBody: JsonObject, more: JsonObject = {}, method = 'post') => {
    const tool = onlyTool(compiled(documentOf({ requestBody }, more, [method, '/things'])));
    return { body: operationOf(tool).body, schema: argumentOf(tool, 'body'), tool };
  };

  test('of text or bytes is a text argument', () => {
    const content = (type: string, schema: Json = { type: 'object' }) => ({ required: true, content: { [type]: { schema } } });
    expect(bodyOf(content('application/xml'))).toMatchObject({
      body: { kind: 'text', required: true, content_type: 'application/xml' },
      schema: { type: 'string', contentMediaType: 'application/xml' },
    });
    expect(bodyOf(content('text/plain', { type: 'string', maxLength: 3 })).schema).toEqual({ type: 'string', maxLength: 3 });
    expect(bodyOf(content('image/png', {}))).toMatchObject({
      body: { kind: 'binary' },
      schema: { type: 'string', contentEncoding: 'base64' },
    });
    expect(bodyOf(content('*/*', { type: 'object' })).body).toMatchObject({ kind: 'json', content_type: 'application/json' });
    expect(bodyOf(content('*/*', { type: 'string', format: 'binary' })).body).toMatchObject({
      kind: 'binary',
      content_type: 'application/octet-stream',
    });
    expect(bodyOf(content('application/json'), {}, 'get').body).toBeNull();
    expect(bodyOf(content('application/json'), { openapi: '3.1.0' }, 'get').body).toMatchObject({ kind: 'json' });
  });

  test.each<[what: string, schema: JsonObject, version: string]>([
    ['base64 of 3.0', { type: 'string', format: 'base64' }, '3.0.3'],
    ['byte of 3.0', { allOf: [{ type: 'string', format: 'byte' }] }, '3.0.3'],
    ['an encoding of 3.1', { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/jpeg' }, '3.1.0'],
  ])('that is documented in %s is sent as that text', (_what, schema, openapi) => {
    const found = bodyOf({ content: { 'image/jpeg': { schema } } }, { openapi });
    expect(found.body).toMatchObject({ kind: 'text', content_type: 'image/jpeg' });
    expect(JSON.stringify(found.schema)).toContain('"contentEncoding":"base64"');
  });

  test('in parts with an encoding has a header that says so', () => {
    const properties = {
      picture: { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' },
      more: { type: 'array', items: { type: 'string', contentEncoding: 'base64' } },
      raw: { type: 'string', contentEncoding: 'binary' },
      text: { type: 'string', format: 'base64', contentMediaType: 'image/png' },
    };
    const { body } = bodyOf({ content: { 'multipart/form-data': { schema: { type: 'object', properties } } } }, { openapi: '3.1.0' });
    const headers = { 'Content-Transfer-Encoding': 'base64' };
    expect(body?.encoding).toEqual({
      picture: part({ content_type: 'image/png', headers }),
      more: part({ content_type: 'application/octet-stream', headers }),
      raw: part({ binary: true }),
    });
  });

  const part = (more: Partial<PartEncoding>): PartEncoding => ({
    content_type: null,
    style: null,
    explode: true,
    allow_reserved: false,
    binary: false,
    headers: {},
    ...more,
  });

  test('of several parts says how each is written', () => {
    const properties = {
      plain: string,
      file: { type: 'string', format: 'binary', description: 'A picture' },
      files: { type: 'array', items: { type: 'string', format: 'binary' } },
      token: { type: 'string', format: 'byte' },
      meta: { type: 'object' },
      raw: { type: 'string', contentMediaType: 'application/octet-stream' },
    };
    const encoding = {
      file: {
        contentType: 'image/png',
        headers: { 'X-Kind': { schema: { enum: ['photo'] } }, 'Content-Type': { schema: { const: 'x' } } },
      },
      meta: { contentType: 'application/json' },
    };
    const { body, schema } = bodyOf(
      {
        content: { 'multipart/form-data': { schema: { $ref: '#/components/schemas/Upload' }, encoding } },
      },
      { components: { schemas: { Upload: { type: 'object', properties, required: ['file'] } } } },
    );
    expect(body).toEqual({
      argument: 'body',
      required: false,
      content_type: 'multipart/form-data',
      kind: 'multipart',
      encoding: {
        file: part({ content_type: 'image/png', binary: true, headers: { 'X-Kind': 'photo' } }),
        files: part({ binary: true }),
        meta: part({ content_type: 'application/json' }),
        raw: part({ binary: true }),
      },
    });
    expect(schema).toMatchObject({
      type: 'object',
      required: ['file'],
      properties: {
        file: {
          description: 'A picture',
          anyOf: [
            { type: 'string', contentEncoding: 'base64' },
            { type: 'object', required: ['data'] },
          ],
        },
        files: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'object' }] } },
        token: { type: 'string', contentEncoding: 'base64' },
      },
    });
  });

  test('of a form keeps the style of its properties', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: string }, b: { type: 'object' }, c: string } };
    const encoding = { a: { style: 'spaceDelimited' }, b: { style: 'deepObject', explode: true }, c: { allowReserved: true } };
    const { body } = bodyOf({ content: { 'application/x-www-form-urlencoded': { schema, encoding } } });
    expect(body).toMatchObject({ kind: 'form' });
    expect(body?.encoding).toEqual({
      a: part({ style: 'spaceDelimited', explode: false }),
      b: part({ style: 'deepObject' }),
      c: part({ style: 'form', allow_reserved: true }),
    });
  });

  test('of 2.0 is a parameter there, even if that is only referenced', () => {
    const shared = { Body: { in: 'body', name: 'pet', required: true, description: 'The pet', schema: { $ref: '#/definitions/Pet' } } };
    const more = {
      ...swagger2,
      parameters: shared,
      definitions: { Pet: { type: 'object' } },
      consumes: ['application/xml', 'application/json'],
    };
    const tool = onlyTool(compiled(documentOf({ parameters: [{ $ref: '#/parameters/Body' }] }, more)));
    expect(operationOf(tool)).toMatchObject({ parameters: [], body: { kind: 'json', required: true, content_type: 'application/json' } });
    expect(argumentOf(tool, 'body')).toEqual({ $ref: '#/$defs/Pet', description: 'The pet' });
  });

  test('of 2.0 that is a form is sent as such, and with files in parts', () => {
    const a = { in: 'formData', name: 'a', type: 'array', items: string, required: true };
    const form = onlyTool(compiled(documentOf({ parameters: [a] }, swagger2)));
    expect(operationOf(form).body).toEqual({
      argument: 'body',
      required: true,
      content_type: 'application/x-www-form-urlencoded',
      kind: 'form',
      encoding: { a: part({ style: 'form', explode: false }) },
    });
    expect(argumentOf(form, 'body')).toEqual({ type: 'object', properties: { a: { type: 'array', items: string } }, required: ['a'] });
    const upload = onlyTool(compiled(documentOf({ parameters: [a, { in: 'formData', name: 'f', type: 'file' }] }, swagger2)));
    expect(operationOf(upload).body).toMatchObject({
      kind: 'multipart',
      content_type: 'multipart/form-data',
      encoding: { f: { binary: true } },
    });
  });
});

import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerSchema } from '../../src/api.ts';
import { documentOf, operation } from '../fixtures/document-service.ts';
import { startHttpServer, type RunningServer } from '../fixtures/http-server.ts';
import { startOpenServer, type OpenServer } from '../fixtures/open-server.ts';

let server: OpenServer;
let service: RunningServer;
let sourcePath: string;
/** The next answer of the service, by path. */
const does: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {};

beforeAll(async () => {
  service = await startHttpServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    (does[path] ?? (() => response.writeHead(404).end()))(request, response);
  });
  const paths = {
    '/report': { get: operation('report') },
    '/busy': { get: operation('busy'), post: operation('work') },
    '/locked': { get: operation('locked') },
  };
  const text = JSON.stringify(documentOf(paths, { servers: [{ url: service.origin }] }));
  server = await startOpenServer();
  const body = { name: 'Api', source_type: 'openapi', openapi: { text } };
  const { json } = await server.admin.post('/api/sources?wait=30000', body);
  sourcePath = `/api/sources/${json.id}`;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const call = async (name: string) => (await server.alice.call(`api:${name}`)).json;

describe('an answer of a service', () => {
  test('[HTTP-2] that is a file is an artifact with name, type and size, however small', async () => {
    does['/report'] = (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/pdf', 'content-disposition': 'attachment; filename="q3.pdf"' })
        .end('%PDF');
    const json = await call('report');
    const url = `/api/bff/calls/${json.call_id}/artifacts/1`;
    expect(answerSchema.parse(json)).toMatchObject({
      success: true,
      text: `[q3.pdf (application/pdf, 4 bytes). The whole is at ${url}]`,
      metadata: { http: { status: 200 }, artifacts: [{ n: 1, mime_type: 'application/pdf', bytes: 4, name: 'q3.pdf', url }] },
    });
    expect(json.metadata).not.toHaveProperty('truncated');
    const file = await server.alice.get(url);
    expect([file.text, file.headers.get('content-type')]).toEqual(['%PDF', 'application/pdf']);
    expect((await server.bob.get(url)).status).toBe(404);
  });

  test('[HTTP-2] [EXEC-8] that says when to come back is retried if that does no harm', async () => {
    let refusals = 1;
    does['/busy'] = (_request, response) => {
      if (refusals-- > 0) return void response.writeHead(503, { 'retry-after': '0' }).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}');
    };
    expect(await call('busy')).toMatchObject({ result: { done: true }, metadata: { attempts: 2 } });
    refusals = 1;
    expect(await call('work')).toMatchObject({
      success: false,
      status: 'failed',
      error: { code: 'SERVICE_UNAVAILABLE', retryable: true, upstream_status: 503 },
      metadata: { attempts: 1 },
    });
  });

  test('[HTTP-2] [EXEC-7] that is the caller’s fault never opens a breaker, and says what was wrong', async () => {
    does['/busy'] = (_request, response) =>
      void response.writeHead(422, { 'content-type': 'application/problem+json' }).end('{"title":"Unprocessable","detail":"No such day"}');
    for (let calls = 0; calls < 10; calls++) {
      expect(await call('busy')).toMatchObject({
        success: false,
        text: 'GET /busy was answered with status 422: Unprocessable: No such day',
        error: { code: 'VALIDATION_ERROR', retryable: false, upstream_status: 422, details: { body: { detail: 'No such day' } } },
      });
    }
    does['/busy'] = (_request, response) => void response.writeHead(204).end();
    expect(await call('busy')).toMatchObject({ success: true, text: '', metadata: { http: { status: 204 } } });
  });

  test('[ERR-10] that rejects our credential shows a living service, and its health says what is wrong', async () => {
    does['/locked'] = (_request, response) => void response.writeHead(401).end();
    expect(await call('locked')).toMatchObject({ error: { code: 'UNAUTHENTICATED', upstream_status: 401 } });
    expect((await server.admin.get(sourcePath)).json).toMatchObject({ health: 'unauthenticated', status: { state: 'running' } });
  });
});

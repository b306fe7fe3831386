import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../fixtures/api-client.ts';
import { documentedOperations } from '../fixtures/documented-operations.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

let server: TestServer;
let alice: ApiClient;
let admin: ApiClient;

beforeAll(async () => {
  server = await startTestServer({ mcpDoor: false });
  [alice, admin] = await Promise.all([server.as('alice'), server.as('admin')]);
});
afterAll(() => server[Symbol.asyncDispose]());

describe('[BFF-7] /api/openapi.json', () => {
  interface Media {
    schema: object;
  }
  interface DocumentedOperation {
    operationId: string;
    summary: string;
    tags: string[];
    security: Record<string, string[]>[];
    parameters?: { name: string; in: string; required: boolean; schema: object }[];
    requestBody?: { required: boolean; content: Record<string, Media> };
    responses: Record<string, { description: string; content?: Record<string, Media> }>;
  }
  interface Document {
    openapi: string;
    info: { title: string; version: string };
    servers: { url: string }[];
    paths: Record<string, Record<string, DocumentedOperation>>;
    components: { schemas: Record<string, object>; securitySchemes: Record<string, object> };
  }
  let document: Document;
  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation, where: `${method} ${path}` })),
    );

  beforeAll(async () => {
    document = (await server.client().get('/api/openapi.json')).json;
  });

  test('is an OpenAPI 3.1 document that says where it is served', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: 'Toolcrib', version: expect.any(String) });
    expect(document.servers).toEqual([{ url: server.url }]);
    for (const path of Object.keys(document.paths)) expect(path).toMatch(/^\//);
  });

  test('names every operation once, with its input and output', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { where, path, method, operation } of operations()) {
      expect([where, operation.summary.length > 0, operation.tags.length]).toEqual([where, true, 1]);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect([where, declared.map(({ name }) => name)]).toEqual([where, inPath]);
      for (const parameter of declared) expect(parameter.required).toBe(true);
      // Doing something to a source takes nothing but its name.
      const takesBody =
        ['post', 'put', 'patch'].includes(method) && !/\/(start|stop|restart|refresh|connections\/\{source_id\})$/.test(path);
      expect([where, operation.requestBody !== undefined]).toEqual([where, takesBody]);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(response.description).not.toBe('');
      }
      for (const name of operation.security.flatMap(Object.keys)) expect(document.components.securitySchemes).toHaveProperty(name);
    }
  });

  test('has no broken references', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references) {
      expect(reference).toMatch(/^#\//);
      const found = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
      expect([reference, found]).not.toEqual([reference, undefined]);
    }
  });

  test('has schemas that are JSON Schema 2020-12', () => {
    const ajv = new Ajv2020({ strict: false });
    const schemas: { where: string; schema: object }[] = [];
    for (const { where, operation } of operations()) {
      const contents = [operation.requestBody?.content, ...Object.values(operation.responses).map(({ content }) => content)];
      for (const { name, schema } of operation.parameters ?? []) schemas.push({ where: `${where} ${name}`, schema });
      for (const { schema } of contents.flatMap((content) => Object.values(content ?? {}))) schemas.push({ where, schema });
    }
    expect(schemas.length).toBeGreaterThan(50);
    for (const { where, schema } of schemas) expect([where, ajv.validateSchema(schema)]).toEqual([where, true]);
  });
});

test('[BFF-7] anybody can ask whether the server is alive and ready', async () => {
  expect(await server.client().get('/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
  expect(await server.client().get('/readyz')).toMatchObject({ status: 200, json: { status: 'ready' } });
  expect((await server.client().get('/healthz?from=balancer')).status).toBe(200);
});

test('[BFF-7] [OPS-1] /metrics counts calls by outcome, their duration, and failed authentications', async () => {
  const read = async () => {
    const { headers, text } = await server.client().get('/metrics');
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    const value = (line: RegExp) => Number(line.exec(text)?.[1] ?? 0);
    return {
      completed: value(/^toolcrib_calls_total\{status="completed",code="",origin=""\} (\d+)$/m),
      denied: value(/^toolcrib_calls_total\{status="failed",code="NOT_FOUND",origin="caller"\} (\d+)$/m),
      timed: value(/^toolcrib_call_duration_seconds_count (\d+)$/m),
      unauthenticated: value(/^toolcrib_authentication_failures_total\{reason="malformed"\} (\d+)$/m),
    };
  };
  const before = await read();
  await alice.call('builtin:uuid');
  await alice.call('builtin:uuid');
  await alice.call('no:such');
  await server.client('wrong').get('/api/bff/tools');
  expect(await read()).toEqual({
    completed: before.completed + 2,
    denied: before.denied + 1,
    timed: before.timed + 3,
    unauthenticated: before.unauthenticated + 1,
  });
});

describe('[BFF-8] [DOOR-1] no MCP endpoint is served while the door is closed', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'probe', version: '1' } },
  };
  /** Doing something to a source takes nothing but its name, and there is none of that name; nor is there such a tool. */
  const takesNoBody = /\/(start|stop|restart|refresh|connections\/[^/]+|utcp\/[^/]+)$/;
  const developmentRoutes = ['/dev/jwks', '/dev/token', '/dev/.well-known/openid-configuration'];
  const usualPlaces = [
    '/',
    '/mcp',
    '/mcp/',
    '/sse',
    '/message',
    '/messages',
    '/rpc',
    '/jsonrpc',
    '/api',
    '/api/mcp',
    '/api/bff',
    '/api/bff/mcp',
    '/v1/mcp',
    '/mcp/builtin-tools',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-protected-resource/mcp/builtin-tools',
  ];

  test('under the name of a documented route', async () => {
    const paths = (await documentedOperations(server.url)).map(({ path }) => path);
    expect(paths.filter((path) => /mcp|rpc|message/i.test(path))).toEqual([]);
    // A stream of our own events, to be read only.
    expect((await documentedOperations(server.url)).filter(({ path }) => path.endsWith('/sse')).map(({ method }) => method)).toEqual([
      'GET',
    ]);
  });

  test('on any path: a POST finds nothing or gets a bad request', async () => {
    const documented = await documentedOperations(server.url);
    const posts = new Set(documented.filter(({ method }) => method === 'POST').map(({ path }) => path));
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
    for (const path of new Set([...documented.map(({ path }) => path), ...developmentRoutes, ...usualPlaces])) {
      for (const client of [admin, server.client()]) {
        const { status, text } = await client.post(path.replaceAll(/\{\w+\}/g, 'x'), initialize, headers);
        const wanted = takesNoBody.test(path) ? [401, 404] : posts.has(path) ? [400, 401] : path === '/dev/token' ? [400] : [404];
        expect([path, wanted.includes(status), text.includes('jsonrpc":')]).toEqual([path, true, false]);
      }
    }
  });

  test('under the usual paths of its streams', async () => {
    for (const path of usualPlaces) {
      expect([path, (await admin.get(path, { accept: 'text/event-stream' })).status]).toEqual([path, 404]);
      expect([path, (await admin.delete(path)).status]).toEqual([path, 404]);
    }
  });
});

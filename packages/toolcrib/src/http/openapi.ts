import { z } from 'zod';
import { refusalSchema } from '../api.ts';
import { httpStatusByCode, type ErrorCode } from '../model/crib-error.ts';
import type { Route, RouteResponse } from './route.ts';

/** [BFF-7] OpenAPI 3.1, made from the very schemas that validate requests. */
export function openApiDocument(routes: readonly Route[], { version, publicUrl }: { version: string; publicUrl: string }): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Toolcrib',
      version,
      description: "A tool gateway: AI agents use a company's tools as the person they work for.",
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      schemas: { Refusal: jsonSchema(refusalSchema, 'output') },
      securitySchemes: { user: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: "The end user's own token" } },
    },
  };
}

function operation(route: Route): object {
  const parameters = [
    ...parametersOf(route.params, 'path'),
    ...parametersOf(route.query, 'query'),
    ...parametersOf(route.headers, 'header'),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    tags: [route.tag],
    security: route.access === 'public' ? [] : [{ user: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(route),
    responses: { ...successes(route), ...refusals(route) },
  };
}

function requestBodyOf({ body, example, anyBody }: Route): object {
  if (body !== undefined) return { requestBody: { required: true, content: { 'application/json': bodyOf(body, example) } } };
  if (anyBody === undefined) return {};
  const content = { 'application/json': { schema: {} }, 'text/plain': { schema: { type: 'string' } } };
  return { requestBody: { description: anyBody, required: false, content } };
}

function successes(route: Route): Record<string, object> {
  return Object.fromEntries(Object.entries(route.responses).map(([status, response]) => [status, describeResponse(response)]));
}

function bodyOf(schema: z.ZodType, example: object | undefined): object {
  return { schema: jsonSchema(schema, 'input'), ...(example === undefined ? {} : { example }) };
}

function describeResponse(response: RouteResponse): object {
  const { description, schema, contentType = 'application/json', events, headers = {}, links = {} } = response;
  const content = {
    ...(schema === undefined ? {} : { [contentType]: { schema: jsonSchema(schema, 'output') } }),
    ...(events === undefined ? {} : { 'text/event-stream': { schema: { type: 'string', description: events } } }),
  };
  const named = Object.entries(headers).map(([name, text]) => [name, { description: text, schema: { type: 'string' } }]);
  const linked = Object.entries(links).map(([operationId, given]) => {
    const parameters = typeof given === 'string' ? { id: given } : given;
    return [operationId, { operationId, parameters }];
  });
  return {
    description,
    ...(named.length === 0 ? {} : { headers: Object.fromEntries(named) }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
    ...(linked.length === 0 ? {} : { links: Object.fromEntries(linked) }),
  };
}

/** Every refusal a route can give, with the codes that mean it. */
function refusals(route: Route): Record<string, object> {
  const codes = new Set<ErrorCode>(route.errors);
  codes.add('VALIDATION_ERROR').add('FORBIDDEN').add('INTERNAL');
  if (route.access !== 'public') codes.add('UNAUTHENTICATED').add('SERVICE_UNAVAILABLE');
  if (route.body !== undefined) codes.add('PAYLOAD_TOO_LARGE');
  return Object.fromEntries(
    [...codes].map((code) => [
      String(httpStatusByCode[code]),
      { description: `\`${code}\``, content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } } },
    ]),
  );
}

function parametersOf(schema: z.ZodType | undefined, location: 'path' | 'query' | 'header'): object[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as { properties?: Record<string, object>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: property,
  }));
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' }) as Record<string, unknown>;
  return rest;
}

import { z } from 'zod';
import { sourceListSchema, sourceLogSchema, sourceSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import type { SourceRecord } from '../../model/source.ts';
import { mcpRegistrationSchema } from '../../sources/mcp/registration/forms.ts';
import { showDefinition } from '../../sources/mcp/registration/show-definition.ts';
import { openEventStream } from '../event-stream.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });
const tag = 'sources';
const access = 'administrator';

/** [BFF-6] Sources of tools: what they are, how they are, and what they said. */
export function sourceRoutes({ crib, closing }: { crib: Crib; closing: AbortSignal }): Route[] {
  function shown(source: SourceRecord) {
    const { definition, ...rest } = source;
    return {
      ...rest,
      definition: definition === null ? null : showDefinition(definition),
      status: crib.statusOf(source),
      health: crib.supervisor.healthOf(source.id),
      breaker: crib.executor.load.breakerOf(source.id),
      server: crib.supervisor.infoOf(source.id),
    };
  }

  function existing(id: string): SourceRecord {
    const source = crib.counter.sources.get(id) ?? [...crib.counter.sources.values()].find(({ namespace }) => namespace === id);
    if (source === undefined) throw new CribError('NOT_FOUND', 'There is no such source');
    return source;
  }

  /** One of the things that can be done to a source by hand. */
  function action(name: 'start' | 'stop' | 'restart' | 'refresh', summary: string): Route {
    return defineRoute({
      method: 'POST',
      path: `/api/sources/{id}/${name}`,
      operationId: `${name}Source`,
      summary,
      tag,
      access,
      params,
      responses: { 200: { description: 'The source as it is now', schema: sourceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle({ params }) {
        const source = existing(params.id);
        await crib.supervisor[name](source.id);
        return shown(source);
      },
    });
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/api/sources',
      operationId: 'listSources',
      summary: 'All sources of tools, with their state',
      tag,
      access,
      responses: { 200: { description: 'The sources', schema: sourceListSchema, links: { getSource: '$response.body#/sources/0/id' } } },
      handle: () => ({ sources: [...crib.counter.sources.values()].map(shown) }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/sources',
      operationId: 'registerSource',
      summary: 'Registers a source',
      description:
        'Saved and answered at once; with `wait`, answered when it is running or has failed, at the latest after so many milliseconds.',
      tag,
      access,
      query: z.strictObject({ wait: z.coerce.number().int().min(0).max(300_000).optional() }),
      body: mcpRegistrationSchema,
      example: {
        name: 'Everything',
        mcp: { package: { package_type: 'npm', identifier: '@modelcontextprotocol/server-everything' }, transport: { type: 'stdio' } },
      },
      responses: {
        201: {
          description: 'The new source',
          schema: sourceSchema,
          headers: { Location: 'Where it is' },
          links: { getSource: '$response.body#/id', deleteSource: '$response.body#/id' },
        },
      },
      errors: ['CONFLICT'],
      async handle({ principal, body, query, reply }) {
        const source = await crib.sources.register(principal, body);
        if (query.wait !== undefined) await crib.settled(source.id, query.wait);
        return reply.code(201).header('location', `/api/sources/${source.id}`).send(shown(source));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/sources/{id}',
      operationId: 'getSource',
      summary: 'One source, with its state; by id or namespace',
      tag,
      access,
      params,
      responses: { 200: { description: 'The source', schema: sourceSchema } },
      errors: ['NOT_FOUND'],
      handle: async ({ params }) => shown(existing(params.id)),
    }),
    defineRoute({
      method: 'PUT',
      path: '/api/sources/{id}',
      operationId: 'replaceSource',
      summary: 'Replaces the registration of a source and starts it anew; `***` keeps a secret',
      tag,
      access,
      params,
      body: mcpRegistrationSchema,
      responses: { 200: { description: 'The source as it is now', schema: sourceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ principal, params, body }) => shown(await crib.sources.replace(principal, existing(params.id).id, body)),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/api/sources/{id}',
      operationId: 'enableSource',
      summary: 'Enables or disables a source; one that cannot be started stays disabled',
      tag,
      access,
      params,
      body: z.strictObject({ enabled: z.boolean() }),
      responses: { 200: { description: 'The source as it is now', schema: sourceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      handle: async ({ principal, params, body }) => shown(await crib.sources.setEnabled(principal, existing(params.id).id, body.enabled)),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/sources/{id}',
      operationId: 'deleteSource',
      summary: 'Stops a source and forgets it, its tools and its secrets',
      tag,
      access,
      params,
      responses: { 204: { description: 'Gone' } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, reply }) {
        await crib.sources.delete(principal, existing(params.id).id);
        return reply.code(204).send();
      },
    }),
    action('start', 'Starts a source and waits until it is running or has failed'),
    action('stop', 'Stops a source; its tools are off every list until it is started'),
    action('restart', 'Stops a source and starts it again'),
    action('refresh', 'Asks a source for its tools again'),
    defineRoute({
      method: 'GET',
      path: '/api/sources/{id}/logs',
      operationId: 'sourceLogs',
      summary: 'What a source said last and what happened to it; as a stream, also what follows',
      tag,
      access,
      params,
      query: z.strictObject({ lines: z.coerce.number().int().min(1).max(1000).optional() }),
      responses: {
        200: { description: 'The last lines, oldest first', schema: sourceLogSchema, events: '`line` events, from the last lines on' },
      },
      errors: ['NOT_FOUND'],
      handle({ params, query, request, reply }) {
        const log = crib.logOf(existing(params.id).id);
        const last = log.tail(query.lines ?? 100);
        if (request.headers.accept?.includes('text/event-stream') !== true) return { lines: last };
        const stream = openEventStream(reply);
        for (const line of last) stream.send('line', line);
        const stopFollowing = log.onLine((line) => stream.send('line', line));
        const close = () => stream.close();
        closing.addEventListener('abort', close);
        stream.onClose(() => {
          stopFollowing();
          closing.removeEventListener('abort', close);
        });
        if (closing.aborted) close();
        return reply;
      },
    }),
  ];
}

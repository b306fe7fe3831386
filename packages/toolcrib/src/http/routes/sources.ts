import { z } from 'zod';
import { refreshedSourceSchema, sourceListSchema, sourcePreviewSchema, sourceSchema } from '../../api.ts';
import { splitReadBack } from '../../administration/split-read-back.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import type { SourceRecord } from '../../model/source.ts';
import { mostDocumentBytes } from '../../sources/registration/document-form.ts';
import { replacedSourceFormSchema } from '../../sources/registration/replaced-source-form.ts';
import { sourceFormSchema } from '../../sources/registration/source-form.ts';
import { findSource } from '../find-source.ts';
import { defineRoute, type Route } from '../route.ts';
import { shownPreview } from '../shown-preview.ts';
import { shownSource } from '../shown-source.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });
const tag = 'sources';
const access = 'administrator';
/** A registration may have a whole document in it, and a text in JSON has escapes. */
const bodyLimitBytes = 2 * mostDocumentBytes + 1_048_576;
const registrationExample = {
  name: 'Everything',
  mcp: { package: { package_type: 'npm', identifier: '@modelcontextprotocol/server-everything' }, transport: { type: 'stdio' } },
};

/** [BFF-6] Sources of tools: what they are and how they are. */
export function sourceRoutes({ crib, closing }: { crib: Crib; closing: AbortSignal }): Route[] {
  const shown = (source: SourceRecord) => shownSource(crib, source);
  const existing = (id: string) => findSource(crib, id);

  function supervised(id: string): SourceRecord {
    const source = existing(id);
    if (source.definition === null) throw new CribError('CONFLICT', 'The built-in tools are always running');
    return source;
  }

  /** One of the things that can be done to a source by hand. */
  function action(name: 'start' | 'stop' | 'restart', summary: string): Route {
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
      async handle({ principal, params }) {
        const source = supervised(params.id);
        await crib.sources.operate(principal, source.id, name);
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
      body: sourceFormSchema,
      bodyLimitBytes,
      example: registrationExample,
      rated: () => true,
      responses: {
        201: {
          description: 'The new source',
          schema: sourceSchema,
          headers: { Location: 'Where it is' },
          links: { getSource: '$response.body#/id', deleteSource: '$response.body#/id' },
        },
      },
      errors: ['RATE_LIMITED', 'CONFLICT'],
      async handle({ principal, body, query, reply }) {
        const source = await crib.sources.register(principal, body);
        if (query.wait !== undefined) await crib.settled(source.id, query.wait);
        return reply.code(201).header('location', `/api/sources/${source.id}`).send(shown(source));
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/sources/preview',
      operationId: 'previewSource',
      summary: 'Says what a registration would come to, and saves nothing',
      description:
        'Shows the command that would be started, missing values, and whether the namespace is taken. With `discover` the server is really started or connected to, or the document imported, once, to see its tools; nothing of it is left afterwards.',
      tag,
      access,
      query: z.strictObject({ discover: z.enum(['true', 'false']).optional() }),
      body: sourceFormSchema,
      bodyLimitBytes,
      example: registrationExample,
      rated: () => true,
      responses: { 200: { description: 'The source it would become', schema: sourcePreviewSchema } },
      errors: ['RATE_LIMITED'],
      async handle({ principal, body, query, reply }) {
        const gone = new AbortController();
        reply.raw.on('close', () => gone.abort());
        const signal = AbortSignal.any([gone.signal, closing]);
        return shownPreview(await crib.previewSource(principal, body, { discover: query.discover === 'true', signal }));
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
      description:
        'Takes the answer of `GET`, as it is or edited. Without an edit nothing happens. Send `id`, `definition`, `managed_by` and `created_at` as you read them, or leave them out. An `updated_at` that is not the latest is a CONFLICT. Observed fields such as `status` are ignored.',
      tag,
      access,
      params,
      body: replacedSourceFormSchema,
      bodyLimitBytes,
      responses: { 200: { description: 'The source as it is now', schema: sourceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, body }) {
        const source = existing(params.id);
        const { form, seen } = splitReadBack(body, source);
        if (form.source_type === 'builtin' || source.source_type === 'builtin') return shown(unchangedBuiltin(source, form));
        return shown(await crib.sources.replace(principal, source.id, form, { seen }));
      },
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
    defineRoute({
      method: 'POST',
      path: '/api/sources/{id}/refresh',
      operationId: 'refreshSource',
      summary: 'Asks a source for its tools again, and reports what is different; where that fails, what was known stays',
      tag,
      access,
      params,
      responses: { 200: { description: 'The source as it is now, and what was found', schema: refreshedSourceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle({ params }) {
        const source = supervised(params.id);
        await crib.supervisor.refresh(source.id);
        return { ...shown(source), report: crib.reportOf(source.id) };
      },
    }),
  ];
}

/** What may be said of the built-in tools: what they are. */
function unchangedBuiltin(
  source: SourceRecord,
  said: { source_type: string; name?: string | undefined; namespace?: string | undefined; enabled: boolean },
): SourceRecord {
  const { source_type, name, namespace, enabled } = source;
  const isSame = said.source_type === source_type && said.name === name && said.namespace === namespace && said.enabled === enabled;
  if (isSame) return source;
  const what =
    source_type === 'builtin' ? 'The built-in tools cannot be changed' : `${name} is a source of the type ${source_type}, and stays one`;
  throw new CribError('CONFLICT', what, { field: 'source_type' });
}

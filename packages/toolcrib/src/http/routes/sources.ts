import { z } from 'zod';
import { sourceListSchema, sourceSchema } from '../../api.ts';
import { splitReadBack } from '../../administration/split-read-back.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import { isDefined, type SourceRecord } from '../../model/source.ts';
import { mostDocumentBytes } from '../../sources/registration/document-form.ts';
import { replacedSourceFormSchema, sourceFormSchema } from '../../sources/source-forms.ts';
import { sourceTypeOf } from '../../sources/registry.ts';
import { defineRoute, type Route } from '../route.ts';
import { shownSource } from '../shown-source.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });
const tag = 'sources';
const access = 'administrator';
/** A registration may have a whole document in it, and a text in JSON has escapes. */
export const registrationBytes = 2 * mostDocumentBytes + 1_048_576;
export const registrationExample = {
  name: 'Everything',
  mcp: { package: { package_type: 'npm', identifier: '@modelcontextprotocol/server-everything' }, transport: { type: 'stdio' } },
};

/** [BFF-6] Sources of tools: what they are and how they are. */
export function sourceRoutes({ sources, settled }: Pick<Crib, 'sources' | 'settled'>): Route[] {
  const shown = (source: SourceRecord) => shownSource(sources, source);

  return [
    defineRoute({
      method: 'GET',
      path: '/api/sources',
      operationId: 'listSources',
      summary: 'All sources of tools, with their state',
      tag,
      access,
      responses: { 200: { description: 'The sources', schema: sourceListSchema, links: { getSource: '$response.body#/sources/0/id' } } },
      handle: () => ({ sources: sources.list().map(shown) }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/sources',
      operationId: 'registerSource',
      summary: 'Registers a source',
      description:
        'Saves the source and answers at once. With `wait`, answers when the source runs or has failed, or after this many milliseconds.',
      tag,
      access,
      query: z.strictObject({ wait: z.coerce.number().int().min(0).max(300_000).optional() }),
      body: sourceFormSchema,
      bodyLimitBytes: registrationBytes,
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
        const source = await sources.register(principal, body);
        if (query.wait !== undefined) await settled(source.id, query.wait);
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
      handle: async ({ params }) => shown(sources.get(params.id)),
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
      bodyLimitBytes: registrationBytes,
      responses: { 200: { description: 'The source as it is now', schema: sourceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, body }) {
        const source = sources.get(params.id);
        const { form, seen } = splitReadBack(body, source);
        if (!isDefined(source) || sourceTypeOf(form.source_type).registration === null) return shown(unchanged(source, form));
        return shown(await sources.replace(principal, source.id, form, { seen }));
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
      handle: async ({ principal, params, body }) => shown(await sources.setEnabled(principal, sources.get(params.id).id, body.enabled)),
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
        await sources.delete(principal, sources.get(params.id).id);
        return reply.code(204).send();
      },
    }),
  ];
}

/** A source that comes with Toolcrib itself can only be sent back as it is. */
function unchanged(
  source: SourceRecord,
  said: { source_type: string; name?: string | undefined; namespace?: string | undefined; enabled: boolean },
): SourceRecord {
  const { source_type, name, namespace, enabled } = source;
  const isSame = said.source_type === source_type && said.name === name && said.namespace === namespace && said.enabled === enabled;
  if (isSame) return source;
  const what = isDefined(source) ? `${name} is a source of the type ${source_type}, and stays one` : 'The built-in tools cannot be changed';
  throw new CribError('CONFLICT', what, { field: 'source_type' });
}

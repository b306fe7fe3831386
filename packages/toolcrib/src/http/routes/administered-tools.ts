import { z } from 'zod';
import {
  administeredToolListSchema,
  administeredToolSchema,
  toolAdminQuerySchema,
  toolOverridesChangeSchema,
  toolReferenceSchema,
} from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { describeTool } from '../../inventory/describe-tool.ts';
import { approvalOf } from '../../inventory/pinning.ts';
import type { Tool } from '../../model/tool.ts';
import { decodeCursor, encodeCursor } from '../page-cursor.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: toolReferenceSchema });
const defaultLimit = 100;

/** [BFF-6] Every tool there is, and what an administrator may change about it. */
export function administeredToolRoutes({ tools }: Pick<Crib, 'tools'>): Route[] {
  const tag = 'tools';
  const access = 'administrator';

  function administered(tool: Tool) {
    const { namespace, labels, method, path, state, definition, definition_hash, limits } = tool;
    return {
      ...describeTool(tool),
      upstream_name: definition.name,
      namespace,
      labels,
      method,
      path,
      state,
      definition_hash,
      approval: approvalOf(tool),
      flags: tools.flagsOf(tool),
      limits,
      groups: tools.groupsOf(tool),
    };
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/api/tools',
      operationId: 'listAllTools',
      summary: 'All tools of all sources, in every state',
      tag,
      access,
      query: toolAdminQuerySchema,
      responses: {
        200: {
          description: 'One page of tools',
          schema: administeredToolListSchema,
          links: {
            getTool: '$response.body#/tools/0/tool_id',
            overrideTool: '$response.body#/tools/0/tool_id',
            toolDifference: '$response.body#/tools/0/tool_id',
          },
        },
      },
      handle({ query }) {
        const { source, state, limit = defaultLimit } = query;
        const after = decodeCursor(query.cursor, 'string') ?? '';
        const fitting = tools
          .list()
          .filter(
            (tool) =>
              (source === undefined || tool.source_id === source || tool.namespace === source) &&
              (state === undefined || tool.state === state),
          );
        const rest = fitting.filter((tool) => tool.name > after);
        const page = rest.slice(0, limit);
        const next = rest.length > limit ? encodeCursor(page.at(-1)?.name ?? '') : null;
        return { tools: page.map(administered), total: fitting.length, next_cursor: next };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/tools/{id}',
      operationId: 'getTool',
      summary: 'One tool',
      tag,
      access,
      params,
      responses: { 200: { description: 'The tool', schema: administeredToolSchema } },
      errors: ['NOT_FOUND'],
      handle: ({ params }) => Promise.resolve(administered(tools.get(params.id))),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/api/tools/{id}',
      operationId: 'overrideTool',
      summary: 'Hides, renames, re-describes, labels or limits a tool; survives every refresh of its source',
      tag,
      access,
      params,
      body: toolOverridesChangeSchema,
      example: { labels: { risk: 'low' }, limits: { concurrency: 10 } },
      responses: { 200: { description: 'The tool as it is now', schema: administeredToolSchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: async ({ principal, params, body }) => administered(await tools.override(principal, tools.get(params.id).tool_id, body)),
    }),
  ];
}

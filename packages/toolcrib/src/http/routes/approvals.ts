import { z } from 'zod';
import {
  differencesQuerySchema,
  differencesSchema,
  sourceApprovalSchema,
  toolApprovalSchema,
  toolDifferenceSchema,
  toolReferenceSchema,
} from '../../api.ts';
import type { Crib } from '../../crib.ts';
import type { SourceRecord } from '../../model/source.ts';
import { decodeCursor, encodeCursor } from '../page-cursor.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: z.string().min(1).max(64) });
const toolParams = z.strictObject({ id: toolReferenceSchema });
const access = 'administrator';
const defaultLimit = 100;

/** [INV-3] Definitions that are new or have changed, seen and approved by an administrator. */
export function approvalRoutes({
  approvals,
  sources,
  tools,
  reportOf,
}: Pick<Crib, 'approvals' | 'sources' | 'tools' | 'reportOf'>): Route[] {
  async function differences(source: SourceRecord, after: string, limit: number) {
    const waiting = await approvals.waitingOf(source);
    const rest = waiting.filter(({ upstream_name }) => upstream_name > after);
    const page = rest.slice(0, limit);
    const next = rest.length > limit ? encodeCursor(page.at(-1)?.upstream_name ?? '') : null;
    return { differences: page, total: waiting.length, next_cursor: next, report: reportOf(source.id) };
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/api/tools/{id}/difference',
      operationId: 'toolDifference',
      summary: "A tool's approved definition beside its current one",
      tag: 'tools',
      access,
      params: toolParams,
      responses: { 200: { description: 'The difference, field by field', schema: toolDifferenceSchema } },
      errors: ['NOT_FOUND'],
      handle: ({ params }) => approvals.differenceOf(tools.get(params.id).tool_id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/tools/{id}/approve',
      operationId: 'approveTool',
      summary: 'Approves the definition of a tool that was seen; one that has changed again since then is a conflict',
      tag: 'tools',
      access,
      params: toolParams,
      body: toolApprovalSchema,
      responses: { 200: { description: 'The tool, with nothing left to approve', schema: toolDifferenceSchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handle: ({ principal, params, body }) => approvals.approveTool(principal, tools.get(params.id).tool_id, body.definition_hash),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/sources/{id}/differences',
      operationId: 'sourceDifferences',
      summary: 'The tools of a source that wait for approval, and the report of its last refresh',
      tag: 'sources',
      access,
      params,
      query: differencesQuerySchema,
      responses: { 200: { description: 'One page of differences', schema: differencesSchema } },
      errors: ['NOT_FOUND'],
      handle: ({ params, query }) =>
        differences(sources.get(params.id), decodeCursor(query.cursor, 'string') ?? '', query.limit ?? defaultLimit),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/sources/{id}/approve',
      operationId: 'approveSource',
      summary: 'Approves definitions of a source that were seen: all of them, or none where one has changed again since then',
      tag: 'sources',
      access,
      params,
      body: sourceApprovalSchema,
      responses: { 200: { description: 'The definitions that still wait', schema: differencesSchema } },
      errors: ['NOT_FOUND', 'CONFLICT'],
      async handle({ principal, params, body }) {
        const source = sources.get(params.id);
        await approvals.approveSource(principal, source, body.definition_hashes);
        return differences(source, '', defaultLimit);
      },
    }),
  ];
}

import { Readable } from 'node:stream';
import { z } from 'zod';
import { auditQuerySchema, auditVerdictSchema, auditVerifyQuerySchema, refusalListSchema, refusalQuerySchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { auditLedgers, parseHead } from '../../model/audit.ts';
import { CribError } from '../../model/crib-error.ts';
import { decodeCursor, encodeCursor } from '../page-cursor.ts';
import { defineRoute, type Route } from '../route.ts';

const defaultLimit = 100;
const tag = 'records';
const access = 'administrator';

/** [SEC-4] The record as a whole: what was refused, all of it as one stream, and whether it is as it was written. */
export function auditRoutes({ crib, closing }: { crib: Crib; closing: AbortSignal }): Route[] {
  async function* lines(query: z.output<typeof auditQuerySchema>): AsyncGenerator<string> {
    const { ledger, ...range } = query;
    const wanted = new Set(ledger?.split(','));
    for (const name of auditLedgers) {
      if (ledger !== undefined && !wanted.has(name)) continue;
      for await (const page of crib.store.audit.entries(name, range)) {
        // Breaking off shows that it is not whole.
        if (closing.aborted) throw new CribError('SERVICE_UNAVAILABLE', 'The server is stopping');
        yield page.map((entry) => `${JSON.stringify({ ledger: name, ...entry })}\n`).join('');
      }
    }
  }

  return [
    defineRoute({
      method: 'GET',
      path: '/api/refusals',
      operationId: 'listRefusals',
      summary: 'The record of requests that were refused for who sent them, newest first',
      description: 'Without a valid token, or with one of somebody who may not. Denied calls are in the record of calls.',
      tag,
      access,
      query: refusalQuerySchema,
      responses: { 200: { description: 'One page of the record', schema: refusalListSchema } },
      async handle({ query: { cursor, limit = defaultLimit, kind } }) {
        const before = decodeCursor(cursor, 'string');
        await crib.refusals.flush();
        const page = { limit, ...(before === undefined ? {} : { before }), ...(kind === undefined ? {} : { kind }) };
        const refusals = await crib.store.refusals.list(page);
        const last = refusals.at(-1);
        return { refusals, next_cursor: refusals.length < limit || last === undefined ? null : encodeCursor(last.id) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/audit',
      operationId: 'exportAudit',
      summary: 'The whole record, oldest first, as one JSON object per line',
      description:
        'First calls, then changes, then refusals. `before` and `after` of a change are JSON as text, exactly as it was chained; `chain`, `seq` and `mac` are the place of a line in its chain.',
      tag,
      access,
      query: auditQuerySchema,
      responses: { 200: { description: 'The record', schema: z.string(), contentType: 'application/x-ndjson' } },
      async handle({ query, reply }) {
        await crib.refusals.flush();
        return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(lines(query)));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/audit/verify',
      operationId: 'verifyAudit',
      summary: 'Whether the record is as it was written',
      description: 'Reads all of it, in pieces, while the server goes on. Problems are answered with 200 and `ok: false`.',
      tag,
      access,
      query: auditVerifyQuerySchema,
      responses: { 200: { description: 'The verdict', schema: auditVerdictSchema } },
      async handle({ query: { expect } }) {
        await crib.refusals.flush();
        return crib.store.audit.verify(expect?.split(',').map(parseHead));
      },
    }),
  ];
}

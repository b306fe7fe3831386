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

/** [SEC-4] The audit record: refusals, an export of everything, and a check that nothing was altered. */
export function auditRoutes({ records, closing }: Pick<Crib, 'records'> & { closing: AbortSignal }): Route[] {
  async function* lines(query: z.output<typeof auditQuerySchema>): AsyncGenerator<string> {
    const { ledger, ...range } = query;
    const wanted = new Set(ledger?.split(','));
    for (const name of auditLedgers) {
      if (ledger !== undefined && !wanted.has(name)) continue;
      for await (const page of records.entries(name, range)) {
        // A broken stream tells the client that the export is incomplete.
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
      summary: 'The record of requests refused by authentication or authorization, newest first',
      description: 'Requests without a valid token, or without the required permission. Denied calls are in the record of calls.',
      tag,
      access,
      query: refusalQuerySchema,
      responses: { 200: { description: 'One page of the record', schema: refusalListSchema } },
      async handle({ query: { cursor, limit = defaultLimit, kind } }) {
        const before = decodeCursor(cursor, 'string');
        const page = { limit, ...(before === undefined ? {} : { before }), ...(kind === undefined ? {} : { kind }) };
        const refusals = await records.refusals(page);
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
      handle: ({ query, reply }) => reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(lines(query))),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/audit/verify',
      operationId: 'verifyAudit',
      summary: 'Checks that nobody has altered the record',
      description:
        'Reads the whole record in pieces while the server keeps serving. Where it finds problems, it answers 200 with `ok: false`.',
      tag,
      access,
      query: auditVerifyQuerySchema,
      responses: { 200: { description: 'The verdict', schema: auditVerdictSchema } },
      handle: ({ query: { expect } }) => records.verify(expect?.split(',').map(parseHead)),
    }),
  ];
}

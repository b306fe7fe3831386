import { z } from 'zod';
import { importedSourcesSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import { mostDocumentBytes } from '../../sources/registration/document-form.ts';
import { defineRoute, type Route } from '../route.ts';
import { shownSource } from '../shown-source.ts';

/** [SRC-4] Imports files that were written for other clients, unchanged. */
export function sourceImportRoutes({ importSources, settled, sources }: Pick<Crib, 'importSources' | 'settled' | 'sources'>): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/sources/import',
      operationId: 'importSources',
      summary: 'Registers every server that a UTCP call template, a UTCP manual or an mcpServers file describes',
      description:
        'Each server is one source, and so are all HTTP tools of a manual together. One that is refused does not stop the others: every entry has an outcome of its own. What is there already in the same form is left as it is.',
      tag: 'sources',
      access: 'administrator',
      query: z.strictObject({
        name: z.string().min(1).max(200).optional().describe('For a manual, which has no name of its own'),
        update: z.enum(['true', 'false']).optional().describe('Replaces sources of the same namespace; otherwise they are refused'),
        wait: z.coerce
          .number()
          .int()
          .min(0)
          .max(300_000)
          .optional()
          .describe('Answers when all sources run or have failed, or after this many milliseconds'),
      }),
      anyBody:
        'A UTCP call template, a list of them, a UTCP manual, or a file with mcpServers: as JSON, or as text/plain where it has comments in it',
      bodyLimitBytes: mostDocumentBytes,
      rated: () => true,
      responses: { 200: { description: 'What became of each entry', schema: importedSourcesSchema } },
      errors: ['RATE_LIMITED', 'PAYLOAD_TOO_LARGE'],
      async handle({ principal, query, request }) {
        if (request.body === undefined) throw new CribError('VALIDATION_ERROR', 'The body is missing: send what is to be imported');
        const { name, update, wait } = query;
        const outcomes = await importSources(principal, request.body, { name, update: update === 'true' });
        if (wait !== undefined) {
          await Promise.all(outcomes.flatMap(({ source }) => (source === null ? [] : [settled(source.id, wait)])));
        }
        const entries = outcomes.map(({ source, error, ...rest }) => {
          return Object.assign(rest, { source: source && shownSource(sources, source), error: error?.toJSON() ?? null });
        });
        return { entries };
      },
    }),
  ];
}

import { z } from 'zod';
import { sourcePreviewSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { sourceFormSchema } from '../../sources/source-forms.ts';
import { defineRoute, type Route } from '../route.ts';
import { shownPreview } from '../shown-preview.ts';
import { registrationBytes, registrationExample } from './sources.ts';

/** [SRC-8] Shows the result of a registration before it is saved. */
export function sourcePreviewRoutes({ previewSource, closing }: Pick<Crib, 'previewSource'> & { closing: AbortSignal }): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/sources/preview',
      operationId: 'previewSource',
      summary: 'Shows what a registration would result in, and saves nothing',
      description:
        'Shows the command that would be started, missing values, and whether the namespace is taken. With `discover`, Toolcrib starts or connects to the server once, or imports the document, to list its tools, and leaves nothing behind.',
      tag: 'sources',
      access: 'administrator',
      query: z.strictObject({ discover: z.enum(['true', 'false']).optional() }),
      body: sourceFormSchema,
      bodyLimitBytes: registrationBytes,
      example: registrationExample,
      rated: () => true,
      responses: { 200: { description: 'The source it would become', schema: sourcePreviewSchema } },
      errors: ['RATE_LIMITED'],
      async handle({ principal, body, query, reply }) {
        const gone = new AbortController();
        reply.raw.on('close', () => gone.abort());
        const signal = AbortSignal.any([gone.signal, closing]);
        return shownPreview(await previewSource(principal, body, { discover: query.discover === 'true', signal }));
      },
    }),
  ];
}

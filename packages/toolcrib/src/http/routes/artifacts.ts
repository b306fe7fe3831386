import { z } from 'zod';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import { defineRoute, type Route } from '../route.ts';

const params = z.strictObject({ id: z.string().min(1).max(64), n: z.string().regex(/^[1-9]\d{0,3}$/) });

/** [BFF-5] The parts of an answer that were too large to send with it. */
export function artifactRoutes({ artifacts }: Pick<Crib, 'artifacts'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/bff/calls/{id}/artifacts/{n}',
      operationId: 'getArtifact',
      summary: "A part of the answer to one of the caller's own calls that was too large to be given",
      description: 'Its number, type and size are in `metadata.artifacts` of the answer.',
      tag: 'agents',
      access: 'caller',
      params,
      responses: { 200: { description: 'The part, in the type it has', schema: z.unknown(), contentType: '*/*' } },
      errors: ['NOT_FOUND'],
      async handle({ principal, params, reply }) {
        const artifact = await artifacts.find(principal, params.id, Number(params.n));
        if (artifact === undefined)
          throw new CribError('NOT_FOUND', 'There is no such part of a call of yours, or it is not kept any more');
        // A tool server chose the content: no browser may show it as a page of ours.
        return reply
          .header('content-type', artifact.mime_type)
          .header('content-disposition', 'attachment')
          .header('content-security-policy', "default-src 'none'; sandbox")
          .header('x-content-type-options', 'nosniff')
          .header('cache-control', 'private, no-store')
          .send(Buffer.from(artifact.data));
      },
    }),
  ];
}

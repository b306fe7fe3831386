import { z } from 'zod';
import { callStateSchema, elicitationAnswerSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import { CribError } from '../../model/crib-error.ts';
import type { JsonObject } from '../../model/json.ts';
import { defineRoute, type Route } from '../route.ts';

const callParams = z.strictObject({ id: z.string().min(1).max(64) });

/** [BFF-5] The state of a caller's own calls. */
export function ownCallRoutes({ ownCalls, executor }: Pick<Crib, 'ownCalls' | 'executor'>): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/bff/calls/{id}',
      operationId: 'getCall',
      summary: "The state of one of the caller's own calls",
      tag: 'agents',
      access: 'caller',
      params: callParams,
      responses: { 200: { description: 'Its state', schema: callStateSchema } },
      errors: ['NOT_FOUND'],
      handle: ({ principal, params }) => ownCalls.find(principal, params.id),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/bff/calls/{id}',
      operationId: 'cancelCall',
      summary: "Cancels one of the caller's own calls",
      description: 'A call that has ended stays as it is.',
      tag: 'agents',
      access: 'caller',
      params: callParams,
      responses: { 200: { description: 'Its state', schema: callStateSchema } },
      errors: ['NOT_FOUND'],
      handle: ({ principal, params }) => ownCalls.cancel(principal, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/bff/calls/{id}/elicitations/{elicitation_id}',
      operationId: 'answerElicitation',
      summary: 'Answers a question that a tool asked in the middle of a call',
      description: 'Questions come as `elicitation` events on the stream of the call. Each takes one answer.',
      tag: 'agents',
      access: 'caller',
      params: callParams.extend({ elicitation_id: z.string().min(1).max(64) }),
      body: elicitationAnswerSchema,
      responses: { 204: { description: 'Passed on to the tool' } },
      errors: ['NOT_FOUND'],
      async handle({ principal, params, body, reply }) {
        const call = executor.running(params.id);
        const isOwn = call?.principal.key === principal.key;
        if (!isOwn || !call.answer(params.elicitation_id, body as JsonObject)) {
          throw new CribError('NOT_FOUND', 'There is no such question of a running call of yours, or it has been answered');
        }
        return reply.code(204).send();
      },
    }),
  ];
}

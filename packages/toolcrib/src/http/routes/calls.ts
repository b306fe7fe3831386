import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  acceptedCallSchema,
  answerSchema,
  batchAnswerSchema,
  batchRequestSchema,
  callRequestSchema,
  type CallRequestBody,
  callStateSchema,
  elicitationAnswerSchema,
  type CallState,
} from '../../api.ts';
import type { Crib } from '../../crib.ts';
import type { AdmittedCall } from '../../execution/admitted-call.ts';
import type { CallRequest } from '../../execution/executor.ts';
import type { RunningCall } from '../../execution/running-call.ts';
import type { Answer } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { endWithCaller } from '../end-with-caller.ts';
import { openEventStream } from '../event-stream.ts';
import { traceOf } from '../request-traces.ts';
import { defineRoute, type Route } from '../route.ts';
import { toCribError } from '../to-crib-error.ts';

const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/);
const callHeaders = z.object({ 'Idempotency-Key': idempotencyKey.optional() });
const callParams = z.strictObject({ id: z.string().min(1).max(64) });

/** [BFF-2] [BFF-3] [BFF-5] Calling tools, and what becomes of a call. */
export function callRoutes({ crib }: { crib: Crib }): Route[] {
  const { executor, keptCalls } = crib;

  async function stream(admitted: AdmittedCall, reply: FastifyReply): Promise<void> {
    const { call } = admitted;
    const events = openEventStream(reply, { 'toolcrib-call-id': call.callId });
    call.onEvent = ({ type, ...data }) => events.send(type, { call_id: call.callId, ...data });
    events.onClose(() => call.end('cancelled'));
    try {
      events.send('result', await executor.run(admitted));
    } catch (error) {
      events.send('error', toCribError(error) ?? new CribError('INTERNAL', 'Something failed inside Toolcrib'));
    }
    events.close();
  }

  async function keep(admitted: AdmittedCall, body: CallRequestBody, key: string | undefined, reply: FastifyReply): Promise<unknown> {
    const begun = await keptCalls.begin(admitted, key === undefined ? {} : { idempotencyKey: key });
    if (begun.repeated) void reply.header('idempotency-replayed', 'true');
    if (body.async !== true) return begun.answer;
    // The answer is fetched later; a failure to keep it has been reported where it happened.
    begun.answer.catch(() => undefined);
    const location = `/api/bff/calls/${begun.callId}`;
    return reply.code(202).header('location', location).send({ call_id: begun.callId, status: begun.status, location });
  }

  async function stateOf(principal: Principal, callId: string): Promise<CallState> {
    const running = executor.running(callId);
    if (running?.principal.key === principal.key) {
      const { tool } = running;
      const status = running.queued ? 'queued' : 'running';
      return { call_id: callId, tool_id: tool.tool_id, tool: tool.name, status, error_code: null, error_origin: null, answer: null };
    }
    const found = await keptCalls.find(principal, callId);
    if (found !== undefined) {
      const { kept, answer } = found;
      const status = answer?.status ?? 'running';
      const shown = answer as CallState['answer'];
      const { code: error_code = null, origin: error_origin = null } = answer?.error ?? {};
      return { call_id: callId, tool_id: kept.tool_id, tool: kept.tool, status, error_code, error_origin, answer: shown };
    }
    const record = await crib.store.calls.get(callId);
    if (record === undefined || record.issuer !== principal.issuer || record.subject !== principal.subject) {
      throw new CribError('NOT_FOUND', 'You have made no such call');
    }
    const { tool_id, tool, status, error_code, error_origin } = record;
    return { call_id: callId, tool_id, tool, status, error_code, error_origin, answer: null };
  }

  return [
    defineRoute({
      method: 'POST',
      path: '/api/bff/tools/call',
      operationId: 'callTool',
      summary: 'Calls a tool as the caller',
      description:
        'A refused call is answered with its error. Once the source has been asked, the answer is 200 and says in `success` and `error` how it went. With `Accept: text/event-stream` the answer is a stream of `progress` and `log` events that ends with `result`. With an `Idempotency-Key` the first answer is repeated for 24 hours.',
      tag: 'agents',
      access: 'caller',
      headers: callHeaders,
      body: callRequestSchema,
      example: { name: 'builtin:calculator', arguments: { expression: '6 * 7' } },
      responses: {
        200: {
          description: 'The answer',
          schema: answerSchema,
          events: '`progress` and `log` events, then `result`, which is the answer',
          headers: { 'Idempotency-Replayed': '`true` where an earlier answer is repeated' },
          links: { getCall: '$response.body#/call_id' },
        },
        202: {
          description: 'The call runs; its state is at `location`',
          schema: acceptedCallSchema,
          headers: { Location: 'Where its state is' },
          links: { getCall: '$response.body#/call_id', cancelCall: '$response.body#/call_id' },
        },
      },
      errors: ['NOT_FOUND', 'CONFLICT', 'RATE_LIMITED', 'SERVICE_UNAVAILABLE'],
      async handle({ principal, body, request, reply }) {
        const key = keyOf(request);
        const admitted = await executor.admit(principal, toCallRequest(body, request));
        if (body.async === true || key !== undefined) return keep(admitted, body, key, reply);
        if (request.headers.accept?.includes('text/event-stream') === true) return stream(admitted, reply);
        const answer = executor.run(admitted);
        // Quick tools are done before this matters.
        if (admitted.call.pending && !admitted.call.isDurable) endWithCaller([admitted.call], reply);
        return sendAnswer(reply, await answer);
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/bff/tools/call/batch',
      operationId: 'callTools',
      summary: 'Calls many tools at once',
      description: 'Each call is answered on its own, in the order given: one that is refused or fails says nothing about the others.',
      tag: 'agents',
      access: 'caller',
      body: batchRequestSchema,
      example: { calls: [{ name: 'builtin:calculator', arguments: { expression: '6 * 7' } }, { name: 'builtin:uuid' }] },
      responses: { 200: { description: 'One entry per call', schema: batchAnswerSchema } },
      async handle({ principal, body, request, reply }) {
        const running: RunningCall[] = [];
        endWithCaller(running, reply);
        const answers = await Promise.all(
          body.calls.map(async (call) => {
            try {
              if (call.async === true) throw new CribError('VALIDATION_ERROR', 'A call of a batch cannot be async', { field: 'async' });
              const admitted = await executor.admit(principal, toCallRequest(call, request));
              if (!admitted.call.isDurable) running.push(admitted.call);
              return { http_status: 200, answer: await executor.run(admitted), error: null };
            } catch (error) {
              const refusal = toCribError(error);
              if (refusal === undefined) throw error;
              return { http_status: refusal.httpStatus, answer: null, error: refusal.toJSON() };
            }
          }),
        );
        return { answers };
      },
    }),
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
      handle: ({ principal, params }) => stateOf(principal, params.id),
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
      async handle({ principal, params }) {
        const state = await stateOf(principal, params.id);
        if (state.status !== 'running' && state.status !== 'queued') return state;
        const here = executor.running(params.id);
        if (here === undefined) {
          if (await keptCalls.cancelUnbegun(principal, params.id)) return stateOf(principal, params.id);
          // It runs on another server, which is told; until it has heard, the call is what it was.
          await crib.store.signal('cancel-call', params.id);
          return state;
        }
        here.end('cancelled');
        return { ...state, status: 'cancelled' };
      },
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

function toCallRequest(body: CallRequestBody, request: FastifyRequest): CallRequest {
  return {
    tool: body.tool_id ?? body.name ?? '',
    arguments: body.arguments as JsonObject,
    ...(body.timeout_ms === undefined ? {} : { timeout_ms: body.timeout_ms }),
    trace: traceOf(request),
  };
}

function keyOf(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  const parsed = idempotencyKey.safeParse(header);
  if (parsed.success) return parsed.data;
  const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters';
  throw new CribError('VALIDATION_ERROR', message, { field: 'Idempotency-Key' });
}

/** Serialised here and not by the framework, which would look for a schema first. */
function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(answer));
}

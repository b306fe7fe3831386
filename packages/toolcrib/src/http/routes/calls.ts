import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  acceptedCallSchema,
  answerSchema,
  batchAnswerSchema,
  batchRequestSchema,
  callRequestSchema,
  type CallRequestBody,
} from '../../api.ts';
import type { Crib } from '../../crib.ts';
import type { AdmittedCall, CallRequest } from '../../execution/admission.ts';
import type { Executor } from '../../execution/executor.ts';
import type { KeptCalls } from '../../execution/kept-calls.ts';
import type { RunningCall } from '../../execution/running-call.ts';
import type { Answer } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import type { JsonObject } from '../../model/json.ts';
import { openEventStream } from '../event-stream.ts';
import { throwEarlierFailure } from '../plain-calls.ts';
import { traceOf } from '../read-request.ts';
import { defineRoute, type Route } from '../route.ts';
import { toCribError } from '../to-crib-error.ts';

const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/);
const callHeaders = z.object({ 'Idempotency-Key': idempotencyKey.optional() });

/** [BFF-2] [BFF-3] Calling tools. */
export function callRoutes({ executor, keptCalls }: Pick<Crib, 'executor' | 'keptCalls'>): Route[] {
  return [callRoute(executor, keptCalls), batchRoute(executor)];
}

function callRoute(executor: Executor, keptCalls: KeptCalls): Route {
  return defineRoute({
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
      throwEarlierFailure(request.raw);
      const key = keyOf(request);
      const admitted = await executor.admit(principal, toCallRequest(body, request));
      if (body.async === true || key !== undefined) return keep(keptCalls, admitted, { body, key, reply });
      if (request.headers.accept?.includes('text/event-stream') === true) return stream(executor, admitted, reply);
      return sendAnswer(reply, await runForCaller(executor, admitted, reply));
    },
  });
}

function batchRoute(executor: Executor): Route {
  return defineRoute({
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
  });
}

/** Runs a call whose answer can only be sent while its caller is there. Quick tools are done before that matters. */
export function runForCaller(executor: Executor, admitted: AdmittedCall, reply: FastifyReply): Promise<Answer> {
  const answer = executor.run(admitted);
  if (admitted.call.pending && !admitted.call.isDurable) endWithCaller([admitted.call], reply);
  return answer;
}

function endWithCaller(calls: readonly RunningCall[], reply: FastifyReply): void {
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) for (const call of calls) call.end('cancelled');
  });
}

/** The answer as a stream of events that ends with it. */
async function stream(executor: Executor, admitted: AdmittedCall, reply: FastifyReply): Promise<void> {
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

interface Kept {
  body: CallRequestBody;
  key: string | undefined;
  reply: FastifyReply;
}

/** [EXEC-9] The answer outlives the request. */
async function keep(keptCalls: KeptCalls, admitted: AdmittedCall, { body, key, reply }: Kept): Promise<unknown> {
  const begun = await keptCalls.begin(admitted, key === undefined ? {} : { idempotencyKey: key });
  if (begun.repeated) void reply.header('idempotency-replayed', 'true');
  if (body.async !== true) return begun.answer;
  // The answer is fetched later; a failure to keep it has been reported where it happened.
  begun.answer.catch(() => undefined);
  const location = `/api/bff/calls/${begun.callId}`;
  return reply.code(202).header('location', location).send({ call_id: begun.callId, status: begun.status, location });
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

import { z } from 'zod';
import { refusalSchema } from '../../api.ts';
import type { Crib } from '../../crib.ts';
import type { Answer } from '../../model/call.ts';
import { CribError, httpStatusByCode } from '../../model/crib-error.ts';
import type { Json } from '../../model/json.ts';
import { traceOf } from '../read-request.ts';
import { defineRoute, type Route } from '../route.ts';
import { utcpArguments } from '../utcp-arguments.ts';
import { utcpCallPath } from '../utcp-manual.ts';
import { runForCaller } from './calls.ts';

/** [UTCP-1] Calls as a UTCP client makes them: the arguments as they are, and the result as it is. */
export function utcpCallRoutes({ executor, inventory }: Pick<Crib, 'executor' | 'inventory'>): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: utcpCallPath,
      operationId: 'callUtcpTool',
      summary: 'Calls a tool in the form of a UTCP manual',
      description:
        'The templates of `GET /api/utcp` lead here. The query holds the arguments by name (`tags[]=a`, `filter[age]=3`), read by the input schema of the tool; `body_field` of its template names the one that is the body. The answer is the result alone, or an error with its status. `POST /api/bff/tools/call` tells more.',
      tag: 'agents',
      access: 'caller',
      params: z.strictObject({ tool_id: z.string().min(1).max(512) }),
      query: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      anyBody: 'The argument that the template names in `body_field`, in the `content_type` it names',
      responses: {
        200: {
          description: 'The result: the structured content, else the text of the answer, else its content',
          schema: z.unknown(),
          headers: { 'Toolcrib-Call-Id': 'The id of the call in the record' },
        },
        422: { description: 'The tool itself reports a failure; its source is healthy', schema: refusalSchema },
      },
      errors: ['NOT_FOUND', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'RATE_LIMITED', 'NETWORK_ERROR', 'SERVICE_UNAVAILABLE'],
      async handle({ principal, params, query, request, reply }) {
        const schema = inventory.find(params.tool_id)?.definition.input_schema;
        const admitted = await executor.admit(principal, {
          tool: params.tool_id,
          arguments: schema === undefined ? {} : utcpArguments(schema, query, request.body as Json | undefined),
          trace: traceOf(request),
        });
        const answer = await runForCaller(executor, admitted, reply);
        void reply.header('toolcrib-call-id', answer.call_id).type('application/json; charset=utf-8');
        const { error } = answer;
        if (error === null) return reply.send(JSON.stringify(resultOf(answer)));
        // A 5xx would look like an outage, and the client would retry.
        const status = error.origin === 'tool' ? 422 : httpStatusByCode[error.code];
        return reply.code(status).send(JSON.stringify(new CribError(error.code, error.message)));
      },
    }),
  ];
}

/** [EXEC-2] The result, unless that would leave out a picture or a file. */
function resultOf({ content, structured_content, result }: Answer): Json {
  if (structured_content !== null || content.every(({ type }) => type === 'text')) return result;
  return (content.length === 1 ? content[0] : content) as Json;
}

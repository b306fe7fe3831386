import type { ToolOutput } from '../../model/call.ts';
import { isPerUser } from '../../model/credential.ts';
import { CribError } from '../../model/crib-error.ts';
import type { EndSignal } from '../../model/end-signal.ts';
import type { JsonObject } from '../../model/json.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { Tool } from '../../model/tool.ts';
import { failureOf, traced } from '../../model/traced.ts';
import type { OpenedCalls } from '../documents/document-calls.ts';
import type { CallContext } from '../source.ts';
import { answerFailure } from '../upstream/http/answer-failure.ts';
import { answerHeaders } from '../upstream/http/answer-headers.ts';
import { answerText } from '../upstream/http/answer-text.ts';
import { redactedAnswer } from '../upstream/http/redacted-answer.ts';
import { sendRequest, type BuiltRequest, type SentRequest } from '../upstream/http/send-request.ts';
import { addressAttributes, noteAnswer, noteRequest } from '../upstream/http/watched-exchange.ts';
import type { WireLog } from '../upstream/logs/wire-logs.ts';
import { redactError } from '../upstream/redacted.ts';
import { createUpstreams, type UpstreamsInput } from '../upstream/upstreams.ts';
import { graphqlOutput } from './call/graphql-output.ts';
import { operationBody } from './call/operation-body.ts';
import { requestHeaders } from './call/request-headers.ts';
import type { GraphqlDefinition } from './graphql-definition.ts';
import type { GraphqlPlan } from './graphql-plan.ts';
import type { SelectableTypes } from './schema/selectable-types.ts';

interface GraphqlCallsInput extends UpstreamsInput {
  source: DefinedSource<GraphqlDefinition>;
  wireLog: WireLog;
  /** The types that a caller's selection is checked against. */
  typesFor(signal: EndSignal): Promise<SelectableTypes>;
}

/** Calls the tools of one service. The tool's plan is enough for a call; the schema is only needed if the caller gives a selection. */
export function createGraphqlCalls(input: GraphqlCallsInput): OpenedCalls {
  const { source, wireLog } = input;
  const perUser = isPerUser(source.definition.credential);
  const upstreams = createUpstreams(input);

  async function selectionOf(plan: GraphqlPlan, args: JsonObject, context: CallContext): Promise<string> {
    const chosen = plan.select === null ? undefined : args[plan.select];
    if (typeof chosen !== 'string' || plan.select === null || plan.type === null) return plan.selection;
    const { chosenSelection } = await import('./call/chosen-selection.ts');
    return chosenSelection(chosen, { argument: plan.select, type: plan.type, types: await input.typesFor(context.signal) });
  }

  function outputOf({ field }: GraphqlPlan, { response, bytes }: SentRequest): ToolOutput {
    const { status } = response;
    const contentType = response.header('content-type');
    const text = answerText(bytes, contentType, { isJson: true });
    const metadata: JsonObject = { http: { status, headers: answerHeaders(response) } };
    return graphqlOutput({ field, text, contentType, status, metadata, perUser });
  }

  return {
    async call(tool: Tool, args: JsonObject, context: CallContext): Promise<ToolOutput> {
      const plan = planOf(tool);
      const { origin, pathname, search } = new URL(plan.endpoint);
      const body = operationBody(plan, args, await selectionOf(plan, args, context));
      const request: BuiltRequest = { method: 'POST', target: `${pathname}${search}`, headers: { ...requestHeaders }, body };
      const asked = upstreams.of(origin, context.principal);
      const upstream = asked instanceof Promise ? await traced(context.span?.child('get credential'), asked) : asked;
      const { redactor } = upstream;
      const span = context.span?.child(`${plan.operation} ${plan.field}`, {
        kind: 'client',
        attributes: { ...addressAttributes(origin), 'graphql.operation.type': plan.operation, 'graphql.operation.name': plan.field },
      });
      if (wireLog.on) noteRequest(wireLog, redactor, origin, request);
      try {
        const trace = span?.context ?? context.trace;
        const sent = await sendRequest(upstream, request, { signal: context.signal, trace, leftMs: () => context.leftMs });
        const { status } = sent.response;
        span?.set({ 'http.response.status_code': status });
        if (wireLog.on) noteAnswer(wireLog, redactor, { ...sent, redirects: [] });
        if (status === 401 || status === 403) upstreams.refused(upstream);
        if (status >= 300) throw answerFailure({ method: plan.operation, path: plan.field }, { ...sent, ...notFollowed });
        const output = redactedAnswer(outputOf(plan, sent), redactor, args);
        span?.end();
        return output;
      } catch (error) {
        span?.end(failureOf(error));
        throw error instanceof CribError ? redactError(error, redactor, args) : error;
      }
    },
    endSessionsOf: (owner) => upstreams.endSessionsOf(owner),
    secretsChanged: () => upstreams.secretsChanged(),
    close: () => upstreams.close(),
  };
}

/** Used for redirects only: their target is not registered. */
const notFollowed = { refused: 'Redirects are not followed: register the final address as the endpoint' };

function planOf({ plan, name }: Tool): GraphqlPlan {
  if (plan === null) throw new CribError('INTERNAL', `The tool ${name} has no GraphQL plan`);
  return plan as unknown as GraphqlPlan;
}

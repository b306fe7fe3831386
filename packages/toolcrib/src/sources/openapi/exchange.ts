import type { ToolOutput } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import type { EndSignal } from '../../model/end-signal.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Tool } from '../../model/tool.ts';
import type { HttpOperation } from '../../model/http-operation.ts';
import { failureOf, traced } from '../../model/traced.ts';
import type { HttpResponse } from '../../net/http-exchange.ts';
import type { WireLog } from '../upstream/logs/wire-logs.ts';
import type { CallContext } from '../source.ts';
import { redactError } from '../upstream/redacted.ts';
import { answerFailure } from '../upstream/http/answer-failure.ts';
import { answerHeaders } from '../upstream/http/answer-headers.ts';
import { addressAttributes, noteAnswer, noteRequest } from '../upstream/http/watched-exchange.ts';
import { answerOutput } from './answer/answer-output.ts';
import { nextPage } from './answer/next-page.ts';
import { redactedAnswer } from '../upstream/http/redacted-answer.ts';
import { mayHaveLargeIntegers, withExactIntegers } from './request/exact-integers.ts';
import { requestPlan, type RequestPlan } from './request/request-plan.ts';
import { sendFollowing, type SentAndFollowed } from './request/send-following.ts';
import { sendRequest, type BuiltRequest } from '../upstream/http/send-request.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

interface ExchangeInput {
  tool: Tool;
  operation: HttpOperation;
  /** The tool's arguments, or an address within the operation's origin to GET. */
  request: { args: JsonObject } | { url: URL };
  context: CallContext;
  signal: EndSignal;
  /** Whether redirects are returned as results instead of being followed. */
  keepsRedirects: boolean;
}

interface Exchanged {
  response: HttpResponse;
  /** The path and query of the request, before any redirect. */
  target: string;
  output: ToolOutput;
}

type Exchange = (input: ExchangeInput) => Promise<Exchanged>;

interface CreateExchangeInput {
  upstreams: Upstreams;
  wireLog: WireLog;
  /** Other origins that redirects may lead to. */
  origins: readonly string[];
}

/** [HTTP-1] [HTTP-2] Sends one request of a tool and returns the response. Throws for any status but success and expected redirects. */
export function createExchange({ upstreams, wireLog, origins }: CreateExchangeInput): Exchange {
  return async (input) => {
    const { operation, request, context, tool, signal, keepsRedirects } = input;
    const { origin, build } = requestPlan(operation);
    const built = 'args' in request ? builtFor(tool, operation, request.args, build) : lookAt(request.url, origin, operation);
    const asked = upstreams.of(origin, operation.sends_credential ? context.principal : 'public');
    const upstream = asked instanceof Promise ? await traced(context.span?.child('get credential'), asked) : asked;
    const { redactor } = upstream;
    const given = 'args' in request ? request.args : undefined;
    const span = context.span?.child(`${operation.method} ${operation.path}`, {
      kind: 'client',
      attributes: { ...addressAttributes(origin), 'http.request.method': built.method, 'url.template': operation.path },
    });
    if (wireLog.on) noteRequest(wireLog, redactor, origin, built);
    try {
      const trace = span?.context ?? context.trace;
      const options = { signal, trace, listed: origins, stranger: upstreams.stranger, leftMs: () => context.leftMs };
      const sent: SentAndFollowed = keepsRedirects
        ? { ...(await sendRequest(upstream, built, options)), redirects: [] }
        : await sendFollowing(upstream, built, options);
      const { response, bytes, redirects, cut } = sent;
      const { status } = response;
      span?.set({ 'http.response.status_code': status });
      if (wireLog.on) noteAnswer(wireLog, redactor, sent);
      if (status >= 300 && !isResult(response, operation, keepsRedirects)) {
        if (status === 401 || status === 403) upstreams.refused(upstream);
        throw answerFailure(operation, sent);
      }
      const http = { status, headers: answerHeaders(response), ...(redirects.length > 0 && { redirects }) };
      const metadata: JsonObject = { http, ...(cut !== undefined && { stream_cut: cut }) };
      const output = answerOutput(bytes, response, metadata);
      const link = response.header('link');
      if ('args' in request && (link !== '' || operation.pagination !== null)) {
        const { input_schema: inputSchema } = tool.definition;
        const answer = output.structured_content;
        const next = nextPage({ operation, inputSchema, args: request.args, origin, target: built.target, link, answer });
        if (next !== undefined) metadata['next_page'] = next;
      }
      span?.end();
      return { response, target: built.target, output: redactedAnswer(output, redactor, given) };
    } catch (error) {
      span?.end(failureOf(error));
      throw error instanceof CribError ? redactError(error, redactor, given) : error;
    }
  };
}

/** Builds the request. If the body may contain large integers that were given as text, builds it again with exact integers. */
function builtFor({ definition }: Tool, { body }: HttpOperation, args: JsonObject, build: RequestPlan['build']): BuiltRequest {
  const built = build(args);
  const given = body === null ? undefined : args[body.argument];
  if (body === null || given === undefined || !mayHaveLargeIntegers(built.body)) return built;
  const { input_schema: schema } = definition;
  const { properties } = schema as { properties?: JsonObject };
  return build({ ...args, [body.argument]: withExactIntegers(given, properties?.[body.argument], schema) });
}

/** A redirect is a result if the caller wants redirects, or if the document describes redirects and no success. */
function isResult({ status, header }: HttpResponse, operation: HttpOperation, keepsRedirects: boolean): boolean {
  return status < 400 && header('location') !== '' && (keepsRedirects || operation.answers_with_redirect === true);
}

/** A GET for the state of a long-running operation, with the documented media types. */
function lookAt(url: URL, origin: string, { accept }: HttpOperation): BuiltRequest {
  if (url.origin !== origin) throw new CribError('INTERNAL', `This operation sends requests only to ${origin}, not to ${url.origin}`);
  const headers = { accept: accept === '' ? '*/*' : accept, 'user-agent': 'toolcrib' };
  return { method: 'GET', target: `${url.pathname}${url.search}`, headers, body: undefined };
}

import type { ToolOutput } from '../../model/call.ts';
import { CribError } from '../../model/crib-error.ts';
import type { EndSignal } from '../../model/end-signal.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Tool } from '../../model/tool.ts';
import type { HttpOperation } from '../../model/http-operation.ts';
import { failureOf, traced } from '../../model/traced.ts';
import type { HttpResponse } from '../../net/http-exchange.ts';
import type { Redactor } from '../../secrets/redactor.ts';
import { sessionWire } from '../mcp/session-wire.ts';
import type { WireLog } from '../mcp/wire-logs.ts';
import type { CallContext } from '../source.ts';
import { redactError } from '../upstream/redacted.ts';
import { answerFailure } from './answer/answer-failure.ts';
import { answerHeaders } from './answer/answer-headers.ts';
import { answerOutput } from './answer/answer-output.ts';
import { nextPage } from './answer/next-page.ts';
import { redactedAnswer } from './answer/redacted-answer.ts';
import { mayHaveLargeIntegers, withExactIntegers } from './request/exact-integers.ts';
import { requestPlan, type BuiltRequest, type RequestPlan } from './request/request-plan.ts';
import { sendFollowing, type SentAndFollowed } from './request/send-following.ts';
import { sendRequest } from './request/send-request.ts';
import type { Upstreams } from './request/upstreams.ts';

interface ExchangeInput {
  tool: Tool;
  operation: HttpOperation;
  /** The arguments, or an address to be asked for within the operation's origin. */
  request: { args: JsonObject } | { url: URL };
  context: CallContext;
  signal: EndSignal;
  /** Whether a redirect is a result as it is, and none to be followed. */
  keepsRedirects: boolean;
}

interface Exchanged {
  response: HttpResponse;
  /** The path and the query that were asked for. */
  target: string;
  output: ToolOutput;
}

type Exchange = (input: ExchangeInput) => Promise<Exchanged>;

interface CreateExchangeInput {
  upstreams: Upstreams;
  wireLog: WireLog;
  /** Other origins to which redirects are followed. */
  origins: readonly string[];
}

/** [HTTP-1] [HTTP-2] One request of a tool's and what was answered. Statuses other than success are thrown. */
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
      attributes: { ...addressOf(origin), 'http.request.method': built.method, 'url.template': operation.path },
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

/** Once more with what had to be given as text, where there may be any. */
function builtFor({ definition }: Tool, { body }: HttpOperation, args: JsonObject, build: RequestPlan['build']): BuiltRequest {
  const built = build(args);
  const given = body === null ? undefined : args[body.argument];
  if (body === null || given === undefined || !mayHaveLargeIntegers(built.body)) return built;
  const { input_schema: schema } = definition;
  const { properties } = schema as { properties?: JsonObject };
  return build({ ...args, [body.argument]: withExactIntegers(given, properties?.[body.argument], schema) });
}

/** A redirect is a result where it is asked for, or all that is documented. */
function isResult({ status, header }: HttpResponse, operation: HttpOperation, keepsRedirects: boolean): boolean {
  return status < 400 && header('location') !== '' && (keepsRedirects || operation.answers_with_redirect === true);
}

/** The state of what was begun, as JSON where there is a choice. */
function lookAt(url: URL, origin: string, { accept }: HttpOperation): BuiltRequest {
  if (url.origin !== origin) throw new CribError('INTERNAL', `Nothing of this operation is sent to ${url.origin}`);
  const headers = { accept: accept === '' ? '*/*' : accept, 'user-agent': 'toolcrib' };
  return { method: 'GET', target: `${url.pathname}${url.search}`, headers, body: undefined };
}

function addressOf(origin: string): Record<string, string | number> {
  const { hostname, port, protocol } = new URL(origin);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** [OPS-1] Before the credential is added, so that it is in no line. */
function noteRequest(wireLog: WireLog, redactor: Redactor, origin: string, { method, target, headers, body }: BuiltRequest): void {
  sessionWire(wireLog, redactor).note('sent', { method, url: `${origin}${target}`, headers, body: shownBody(body) });
}

function noteAnswer(wireLog: WireLog, redactor: Redactor, { response, bytes, redirects }: SentAndFollowed): void {
  const { status } = response;
  const followed = redirects.length === 0 ? undefined : redirects;
  sessionWire(wireLog, redactor).note('received', {
    redirects: followed,
    status,
    headers: answerHeaders(response),
    body: shownBody(bytes),
  });
}

function shownBody(body: string | Buffer | undefined): string | undefined {
  if (body === undefined || typeof body === 'string') return body;
  const text = body.toString();
  return text.includes('\0') || text.includes('\ufffd') ? `(${body.length} bytes)` : text;
}

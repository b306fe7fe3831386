import { CribError } from '../../../model/crib-error.ts';
import type { EndSignal } from '../../../model/end-signal.ts';
import type { TraceContext } from '../../../model/trace-context.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { requestFailure } from '../../../net/request-failure.ts';
import { requestWithCredentials, type JoinHeaders } from '../../upstream/request-with-credentials.ts';
import { readAnswer, type ReadBytes } from '../answer/read-answer.ts';
import type { BuiltRequest } from './request-plan.ts';
import type { Upstream } from './upstreams.ts';

export interface SendOptions {
  signal: EndSignal;
  trace: TraceContext | undefined;
  /** How long the call may still take; undefined where nobody knows. */
  leftMs(): number | undefined;
}

export interface SentRequest extends ReadBytes {
  response: HttpResponse;
}

const lowered = new WeakMap<Readonly<Record<string, string>>, Record<string, string>>();

/**
 * What the administrator has registered counts more than what a caller asks for, and a credential more than anything. Only the type of the body
 * is the body's own. The headers of a source are the same objects again and again.
 */
const sourceFirst: JoinHeaders = (own, request) => {
  let plain = lowered.get(own);
  if (plain === undefined) {
    const { 'content-type': _type, ...rest } = Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value]));
    plain = rest;
    lowered.set(own, plain);
  }
  const headers = { ...request, ...plain };
  const [ownCookie, cookie] = [plain['cookie'], request['cookie']];
  if (ownCookie !== undefined && cookie !== undefined) headers['cookie'] = withCookie(ownCookie, cookie);
  return headers;
};

/** The credential's cookie in place of one that a caller gave the same name. */
function withCookie(own: string, asked: string): string {
  const names = new Set(own.split('; ').map((pair) => pair.split('=', 1)[0]));
  return [own, ...asked.split('; ').filter((pair) => !names.has(pair.split('=', 1)[0]))].join('; ');
}

/** One exchange: the request with its credential, and the whole answer. A redirect is an answer like any other. */
export async function sendRequest(upstream: Upstream, request: BuiltRequest, options: SendOptions): Promise<SentRequest> {
  const { client, credentials } = upstream;
  const { signal, trace } = options;
  const { method, target: url, headers, body } = request;
  if (trace !== undefined) {
    headers['traceparent'] = trace.traceparent;
    if (trace.tracestate !== undefined) headers['tracestate'] = trace.tracestate;
  }
  const sent = { method, url, headers, body, signal, followRedirects: false, takesEncoded: true };
  const response = await requestWithCredentials(client, sent, credentials, sourceFirst);
  try {
    return { response, ...(await readAnswer(response, options.leftMs())) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof CribError ? error : requestFailure(client.origin, error);
  }
}

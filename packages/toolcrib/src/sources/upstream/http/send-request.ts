import { CribError } from '../../../model/crib-error.ts';
import type { EndSignal } from '../../../model/end-signal.ts';
import type { TraceContext } from '../../../model/trace-context.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { requestFailure } from '../../../net/request-failure.ts';
import { requestWithCredentials, type JoinHeaders } from '../request-with-credentials.ts';
import { readAnswer, type ReadBytes } from './read-answer.ts';
import type { Upstream } from '../upstreams.ts';

/** A request with everything that comes from the arguments of a call. */
export interface BuiltRequest {
  method: string;
  /** The path and the query, exactly as they are sent. */
  target: string;
  /** By lower-case name. */
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

export interface SendOptions {
  signal: EndSignal;
  trace: TraceContext | undefined;
  /** How long the call may still take; undefined if unknown. */
  leftMs(): number | undefined;
}

export interface SentRequest extends ReadBytes {
  response: HttpResponse;
}

const lowered = new WeakMap<Readonly<Record<string, string>>, Record<string, string>>();

/**
 * Registered headers override the caller's, and the credential overrides both. Only the content type always comes from the request. The
 * lower-case headers are cached, because the headers of a source are mostly the same object.
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

/** Cookies of the source replace the caller's cookies of the same name. */
function withCookie(own: string, asked: string): string {
  const names = new Set(own.split('; ').map((pair) => pair.split('=', 1)[0]));
  return [own, ...asked.split('; ').filter((pair) => !names.has(pair.split('=', 1)[0]))].join('; ');
}

/** Sends a request with its credential and reads the whole response. Redirects are not followed. */
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

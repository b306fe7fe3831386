import { SdkError, SdkErrorCode, SdkHttpError, type JSONRPCMessage, type RequestId, type Transport } from '@modelcontextprotocol/client';
import type { EndSignal } from '../../../model/end-signal.ts';
import { parsedJson } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import type { Egress } from '../../../net/egress.ts';
import type { HttpClient } from '../../../net/http-client.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { readBody } from '../../../net/read-body.ts';
import type { McpPostOptions, McpSendOptions, McpTransport, Tap } from '../session/mcp-transport.ts';
import { SessionLostError } from '../../upstream/session-lost.ts';
import type { SessionLoss } from '../session/session-loss.ts';
import { receiveJson } from './http-inbox.ts';
import { pause } from './pause.ts';
import { plainHeaders, protocolFirst, standardHeaders, traceHeaders } from './streamable-http-headers.ts';
import { requestWithCredentials, type HttpCredentials } from '../../upstream/request-with-credentials.ts';
import { statusError } from './streamable-http-status.ts';
import { readMessageStream, type StreamPlace } from './streamable-http-stream.ts';

export interface StreamableHttpOptions extends HttpCredentials {
  egress: Egress;
  url: string | URL;
  /** Allows plain http to other machines. */
  allowInsecure?: boolean;
  maxMessageBytes?: number;
}

interface FollowedStream {
  /** The request whose answer is awaited; without one it is the server's own stream. */
  request?: RequestId;
  signal: EndSignal;
  onEnd?: (() => void) | undefined;
}

const postHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const maxRefusalBytes = 65_536;
/** For the stream of a call; the server's own stream is opened again for as long as the session lives. */
const maxReconnects = 3;
const firstReconnectMs = 1000;
const maxReconnectMs = 30_000;
const goodbyeMs = 2000;

/** [MCP-2] The transport over streamable HTTP, for the handshake revisions and the stateless one. */
export function createStreamableHttpTransport(options: StreamableHttpOptions): McpTransport {
  return new StreamableHttpTransport(options);
}

class StreamableHttpTransport implements McpTransport {
  onmessage?: Transport['onmessage'];
  onerror?: Transport['onerror'];
  onclose?: Transport['onclose'];
  tap: Tap | undefined;
  sessionId: string | undefined;
  readonly hasPerRequestStream = true;
  readonly #url: URL;
  readonly #client: HttpClient;
  readonly #credentials: HttpCredentials;
  readonly #maxBytes: number;
  readonly #closing = new AbortController();
  #version: string | undefined;
  loss: SessionLoss | undefined;
  #closed: Promise<void> | undefined;

  constructor({ egress, url, allowInsecure = false, maxMessageBytes = 32 * 1024 * 1024, ...credentials }: StreamableHttpOptions) {
    this.#url = egress.checkAddress(url, allowInsecure);
    this.#client = egress.httpClient({ origin: this.#url.origin });
    this.#credentials = credentials;
    this.#maxBytes = maxMessageBytes;
  }

  /** Nothing to do: the first message opens the session. */
  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  post(message: JSONRPCMessage, options?: McpPostOptions, failed?: (error: unknown) => void): void {
    this.send(message, options).catch((error: unknown) => failed?.(error));
  }

  async send(message: JSONRPCMessage, options: McpSendOptions = {}): Promise<void> {
    const method = 'method' in message ? message.method : undefined;
    const request = method !== undefined && 'id' in message ? message.id : undefined;
    const sessionId = method === 'initialize' ? undefined : this.sessionId;
    const standard = standardHeaders(message);
    const response = await requestWithCredentials(
      this.#client,
      {
        method: 'POST',
        url: this.#url,
        headers: {
          ...(options.headers && plainHeaders(options.headers)),
          ...postHeaders,
          ...this.#sessionHeaders(sessionId),
          ...standard,
          ...traceHeaders(message),
        },
        body: JSON.stringify(message),
        signal: options.requestSignal,
      },
      this.#credentials,
      protocolFirst,
    );
    if (response.status >= 300) return this.#refused(response, request, sessionId !== undefined);
    if (method === 'initialize') this.#takeSession(response);
    if (request === undefined || response.status === 202) {
      await response.body.dump();
      if (method === 'notifications/initialized') void this.#listen();
      return;
    }
    const type = response.header('content-type').split(';', 1)[0]?.trim().toLowerCase();
    if (type === 'text/event-stream') {
      // Streams of the stateless revision cannot be resumed.
      const resumable = standard === undefined;
      void this.#follow(response, resumable, { request, signal: this.#until(options.requestSignal), onEnd: options.onRequestStreamEnd });
    } else if (type === 'application/json') {
      if (!receiveJson(this, await readBody(response, this.#maxBytes), request)) {
        throw new ProtocolError('The server answered without an answer to the request');
      }
    } else {
      await response.body.dump();
      throw new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, `The server answered with ${type === '' ? 'nothing' : type}`);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    if (this.sessionId !== undefined && this.loss === undefined) {
      const request = { method: 'DELETE' as const, url: this.#url, headers: this.#sessionHeaders(this.sessionId) };
      const goodbye = requestWithCredentials(
        this.#client,
        { ...request, signal: AbortSignal.timeout(goodbyeMs) },
        this.#credentials,
        protocolFirst,
      );
      // A server that refuses this, or is gone, forgets the session by itself.
      await goodbye.then(({ body }) => body.dump()).catch(() => undefined);
    }
    await this.#client.destroy();
    this.onclose?.();
  }

  #sessionHeaders(sessionId: string | undefined): Record<string, string> {
    const headers: Record<string, string> = {};
    if (sessionId !== undefined) headers['mcp-session-id'] = sessionId;
    if (this.#version !== undefined) headers['mcp-protocol-version'] = this.#version;
    return headers;
  }

  #takeSession(response: HttpResponse): void {
    const id = response.header('mcp-session-id');
    if (id === '') return;
    if (!/^[\x21-\x7E]{1,1024}$/.test(id)) throw new ProtocolError('The server gave the session an id that is not valid in a header');
    this.sessionId = id;
  }

  /** A refusal with a JSON-RPC error for the request is an answer like any other. */
  async #refused(response: HttpResponse, request: RequestId | undefined, hasSession: boolean): Promise<void> {
    const text = await readBody(response, maxRefusalBytes).catch(() => '');
    const error = statusError(response, text, hasSession);
    const { status } = response;
    const mayAnswer = SdkHttpError.isInstance(error) && status < 500 && status !== 401 && status !== 403;
    if (!mayAnswer || request === undefined || !answers(text, request)) throw error;
    receiveJson(this, text, request);
  }

  /** Fires when the request is given up, or the whole session is. */
  #until(signal: EndSignal | undefined): EndSignal {
    return signal ?? this.#closing.signal;
  }

  /** Reads a stream to its end, and resumes it where it broke off while an answer is awaited. */
  async #follow(first: HttpResponse, resumable: boolean, { request, signal, onEnd }: FollowedStream): Promise<void> {
    const place: StreamPlace = { lastEventId: undefined, retryMs: undefined };
    const isOver = () => signal.aborted || this.#closing.signal.aborted;
    let failures = 0;
    let response: HttpResponse | undefined = first;
    for (;;) {
      if (response !== undefined) {
        const answered = await readMessageStream(this, response, { place, maxBytes: this.#maxBytes, request });
        if (answered || isOver()) return;
        failures = 0;
      }
      if (request !== undefined && (!resumable || place.lastEventId === undefined || failures >= maxReconnects)) return onEnd?.();
      const waitMs = place.retryMs ?? Math.min(firstReconnectMs * 2 ** failures, maxReconnectMs);
      await pause(waitMs, signal);
      if (isOver()) return;
      failures++;
      try {
        response = await this.#openStream(place.lastEventId, signal);
      } catch (error) {
        if (isOver()) return;
        if (error instanceof SessionLostError) return this.#lose(error);
        this.onerror?.(error as Error);
        response = undefined;
      }
    }
  }

  /** The stream for messages that belong to no request. Many servers have none. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    try {
      const response = await this.#openStream(undefined, signal);
      await this.#follow(response, true, { signal });
    } catch (error) {
      const { status } = error as { status?: number };
      if (!signal.aborted && status !== 405) this.onerror?.(error as Error);
    }
  }

  async #openStream(lastEventId: string | undefined, signal: EndSignal): Promise<HttpResponse> {
    const headers = {
      accept: 'text/event-stream',
      ...this.#sessionHeaders(this.sessionId),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const response = await requestWithCredentials(
      this.#client,
      { method: 'GET', url: this.#url, headers, signal },
      this.#credentials,
      protocolFirst,
    );
    if (response.status === 200 && response.header('content-type').startsWith('text/event-stream')) return response;
    const text = await readBody(response, maxRefusalBytes).catch(() => '');
    throw statusError(response, text, this.sessionId !== undefined);
  }

  #lose(error: SessionLostError): void {
    this.loss ??= { cause: error.lossCause, error };
    void this.close();
  }
}

function answers(text: string, request: RequestId): boolean {
  const value = text.startsWith('{') ? parsedJson(text) : undefined;
  return typeof value === 'object' && value !== null && 'error' in value && 'id' in value && value.id === request;
}

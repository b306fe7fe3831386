import { SdkError, SdkErrorCode, SdkHttpError, type JSONRPCMessage, type RequestId, type Transport } from '@modelcontextprotocol/client';
import type { EndSignal } from '../../../model/end-signal.ts';
import { parsedJson } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';
import type { Egress } from '../../../net/egress.ts';
import type { HttpClient } from '../../../net/http-client.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { readBody, takeBody } from '../../../net/read-body.ts';
import type { McpPostOptions, McpSendOptions, McpTransport, Tap } from '../session/mcp-transport.ts';
import { SessionLostError } from '../../upstream/session-lost.ts';
import type { SessionLoss } from '../session/session-loss.ts';
import { receiveJson } from './http-inbox.ts';
import { pause } from './pause.ts';
import { PostHeaders, protocolFirst, sessionHeaders, standardHeaders, traceHeaders } from './streamable-http-headers.ts';
import { mediaType } from '../../upstream/http/media-type.ts';
import { requestWithCredentials, sendWithCredentials, type HttpCredentials } from '../../upstream/request-with-credentials.ts';
import { statusError } from './streamable-http-status.ts';
import { readMessageStream, type StreamPlace } from './streamable-http-stream.ts';

export interface StreamableHttpOptions extends HttpCredentials {
  egress: Egress;
  url: string | URL;
  /** Allows plain http to other machines. */
  allowInsecure?: boolean;
  maxMessageBytes?: number;
}

/** What has to be known about a message when its answer comes. */
interface Sent {
  method: string | undefined;
  /** The id of a request. */
  request: RequestId | undefined;
  hasSession: boolean;
  /** Streams of the stateless revision cannot be resumed. */
  resumable: boolean;
  signal: EndSignal | undefined;
  onEnd: (() => void) | undefined;
}

/** One of the two is called, once. */
interface Outcome {
  accepted(): void;
  failed(error: unknown): void;
}

interface FollowedStream {
  /** The request whose answer is awaited; without one it is the server's own stream. */
  request?: RequestId;
  signal: EndSignal;
  onEnd?: (() => void) | undefined;
}

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
  /** The path, unless a credential changes the address. */
  readonly #target: URL | string;
  readonly #headers = new PostHeaders();
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
    this.#target = credentials.query === undefined ? `${this.#url.pathname}${this.#url.search}` : this.#url;
    this.#maxBytes = maxMessageBytes;
  }

  /** Nothing to do: the first message opens the session. */
  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  send(message: JSONRPCMessage, options?: McpSendOptions): Promise<void> {
    return new Promise((accepted, failed) => this.#start(message, options, { accepted, failed }));
  }

  post(message: JSONRPCMessage, options?: McpPostOptions, failed: (error: unknown) => void = ignored): void {
    this.#start(message, options, { accepted: ignored, failed });
  }

  #start(message: JSONRPCMessage, options: McpPostOptions = {}, outcome: Outcome): void {
    const method = 'method' in message ? message.method : undefined;
    const request = method !== undefined && 'id' in message ? message.id : undefined;
    const sessionId = method === 'initialize' ? undefined : this.sessionId;
    const standard = standardHeaders(message);
    const { requestSignal: signal, onRequestStreamEnd: onEnd } = options;
    const sent: Sent = { method, request, hasSession: sessionId !== undefined, resumable: standard === undefined, signal, onEnd };
    const trace = traceHeaders(message);
    const repeated = standard === undefined ? trace : { ...standard, ...trace };
    const headers = this.#headers.of({ sessionId, version: this.#version, asked: options.headers, repeated });
    sendWithCredentials(
      this.#client,
      { method: 'POST', url: this.#target, headers, body: options.json ?? JSON.stringify(message), signal },
      {
        credentials: this.#credentials,
        join: this.#headers.join,
        receiver: {
          answered: (response) => this.#answered(response, sent, outcome),
          failed: outcome.failed,
        },
      },
    );
  }

  #answered(response: HttpResponse, sent: Sent, outcome: Outcome): void {
    const { method, request, hasSession, resumable, signal, onEnd } = sent;
    if (response.status >= 300) return void this.#refused(response, request, hasSession).then(outcome.accepted, outcome.failed);
    const type = mediaType(response.header('content-type'));
    try {
      if (method === 'initialize') this.#takeSession(response);
      if (request === undefined || response.status === 202) void this.#drop(response, method).then(outcome.accepted, outcome.failed);
      else if (type === 'application/json') this.#takeAnswer(response, request, outcome);
      else if (type === 'text/event-stream') {
        this.#follow(response, resumable, { request, signal: signal ?? this.#closing.signal, onEnd });
        outcome.accepted();
      } else {
        const unexpected = `The server answered with ${type === '' ? 'nothing' : type}`;
        void response.body.dump().then(() => outcome.failed(new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, unexpected)));
      }
    } catch (error) {
      outcome.failed(error);
    }
  }

  #takeAnswer(response: HttpResponse, request: RequestId, { accepted, failed }: Outcome): void {
    const whole = (text: string) => {
      try {
        if (!receiveJson(this, text, request)) throw new ProtocolError('The server answered without an answer to the request');
        accepted();
      } catch (error) {
        failed(error);
      }
    };
    takeBody(response, this.#maxBytes, { whole, failed });
  }

  async #drop({ body }: HttpResponse, method: string | undefined): Promise<void> {
    await body.dump();
    if (method === 'notifications/initialized') void this.#listen();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    if (this.sessionId !== undefined && this.loss === undefined) {
      const request = { method: 'DELETE' as const, url: this.#url, headers: sessionHeaders(this.sessionId, this.#version) };
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

  /** Reads a stream to its end, and resumes it where it broke off while an answer is awaited. */
  #follow(response: HttpResponse, resumable: boolean, followed: FollowedStream): void {
    const place: StreamPlace = { lastEventId: undefined, retryMs: undefined };
    this.#read(response, place, followed, (answered) => {
      if (!answered && !this.#isOver(followed)) void this.#resume(resumable, place, followed);
    });
  }

  #read(response: HttpResponse, place: StreamPlace, { request }: FollowedStream, onEnd: (answered: boolean) => void): void {
    readMessageStream(this, response, { place, maxBytes: this.#maxBytes, request, onEnd });
  }

  /** The request was given up, or the whole session was. */
  #isOver({ signal }: FollowedStream): boolean {
    return signal.aborted || this.#closing.signal.aborted;
  }

  async #resume(resumable: boolean, place: StreamPlace, followed: FollowedStream): Promise<void> {
    const { request, signal, onEnd } = followed;
    for (let failures = 0; ;) {
      if (request !== undefined && (!resumable || place.lastEventId === undefined || failures >= maxReconnects)) return onEnd?.();
      const waitMs = place.retryMs ?? Math.min(firstReconnectMs * 2 ** failures, maxReconnectMs);
      await pause(waitMs, signal);
      if (this.#isOver(followed)) return;
      failures++;
      try {
        const response = await this.#openStream(place.lastEventId, signal);
        const answered = await new Promise<boolean>((resolve) => this.#read(response, place, followed, resolve));
        if (answered || this.#isOver(followed)) return;
        failures = 0;
      } catch (error) {
        if (this.#isOver(followed)) return;
        if (error instanceof SessionLostError) return this.#lose(error);
        this.onerror?.(error as Error);
      }
    }
  }

  /** The stream for messages that belong to no request. Many servers have none. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    try {
      this.#follow(await this.#openStream(undefined, signal), true, { signal });
    } catch (error) {
      const { status } = error as { status?: number };
      if (!signal.aborted && status !== 405) this.onerror?.(error as Error);
    }
  }

  async #openStream(lastEventId: string | undefined, signal: EndSignal): Promise<HttpResponse> {
    const headers = {
      accept: 'text/event-stream',
      ...sessionHeaders(this.sessionId, this.#version),
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

function ignored(): void {}

function answers(text: string, request: RequestId): boolean {
  const value = text.startsWith('{') ? parsedJson(text) : undefined;
  return typeof value === 'object' && value !== null && 'error' in value && 'id' in value && value.id === request;
}

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import { ConnectionError, ProtocolError } from '../../../model/named-errors.ts';
import type { Egress } from '../../../net/egress.ts';
import type { HttpClient } from '../../../net/http-client.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { readBody } from '../../../net/read-body.ts';
import { readEventStream } from '../../../net/read-event-stream.ts';
import type { McpTransport, Tap } from '../session/mcp-transport.ts';
import { receiveJson } from './http-inbox.ts';
import { traceHeaders } from './streamable-http-headers.ts';
import { requestWithCredentials, type HttpCredentials } from '../../upstream/request-with-credentials.ts';
import { statusError } from './streamable-http-status.ts';

export interface LegacySseOptions extends HttpCredentials {
  egress: Egress;
  url: string | URL;
  /** Allows plain http to other machines. */
  allowInsecure?: boolean;
  maxMessageBytes?: number;
  /** Where somebody knows better why the stream ended, such as whoever started the server. */
  explainLoss?(reason: CribError): Promise<CribError>;
}

const maxRefusalBytes = 65_536;

/** [MCP-2] A server of the first revision over HTTP: one stream carries everything it says, and what we say goes to an address it names. */
export function createLegacySseTransport(options: LegacySseOptions): McpTransport {
  return new LegacySseTransport(options);
}

/**
 * The stream is never opened again in place: a new stream is a new session for the server, and what it was doing for the old one is
 * lost. Whoever holds the session hears of the loss and opens another.
 */
class LegacySseTransport implements McpTransport {
  onmessage?: Transport['onmessage'];
  onerror?: Transport['onerror'];
  onclose?: Transport['onclose'];
  tap: Tap | undefined;
  readonly legacyOnly = true;
  readonly #url: URL;
  readonly #client: HttpClient;
  readonly #credentials: HttpCredentials;
  readonly #maxBytes: number;
  readonly #explainLoss: LegacySseOptions['explainLoss'];
  #version: string | undefined;
  #endpoint: URL | undefined;
  #lost: CribError | undefined;
  #closed: Promise<void> | undefined;

  constructor({ egress, url, allowInsecure = false, maxMessageBytes = 32 * 1024 * 1024, explainLoss, ...credentials }: LegacySseOptions) {
    this.#url = egress.checkAddress(url, allowInsecure);
    this.#client = egress.httpClient({ origin: this.#url.origin });
    this.#credentials = credentials;
    this.#maxBytes = maxMessageBytes;
    this.#explainLoss = explainLoss;
  }

  async start(): Promise<void> {
    const headers = { accept: 'text/event-stream' };
    const response = await requestWithCredentials(this.#client, { method: 'GET', url: this.#url, headers }, this.#credentials);
    if (response.status !== 200 || !response.header('content-type').startsWith('text/event-stream')) {
      throw statusError(response, await readBody(response, maxRefusalBytes).catch(() => ''), false);
    }
    const opened = Promise.withResolvers<void>();
    void this.#read(response, opened.resolve).then((reason) => {
      opened.reject(reason);
      return this.#lose(reason);
    });
    await opened.promise;
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  lossReason(): CribError | undefined {
    return this.#lost;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#endpoint === undefined || this.#closed !== undefined) throw this.#lost ?? new ConnectionError('The session is not open');
    const headers = {
      'content-type': 'application/json',
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
      ...traceHeaders(message),
    };
    const request = { method: 'POST' as const, url: this.#endpoint, headers, body: JSON.stringify(message) };
    const response = await requestWithCredentials(this.#client, request, this.#credentials);
    if (response.status >= 300) throw statusError(response, await readBody(response, maxRefusalBytes).catch(() => ''), true);
    await response.body.dump();
  }

  close(): Promise<void> {
    this.#closed ??= this.#client.destroy().then(() => this.onclose?.());
    return this.#closed;
  }

  /** Reads until the stream ends, and says why it did. */
  async #read(response: HttpResponse, onOpen: () => void): Promise<CribError> {
    try {
      for await (const { event, data } of readEventStream(response.body, this.#maxBytes)) {
        if (event === 'endpoint') {
          this.#endpoint = this.#checkEndpoint(data);
          onOpen();
        } else if (event === 'message' && data !== '') this.#take(data);
      }
      return new ConnectionError('The server ended the session');
    } catch (error) {
      return error instanceof CribError ? error : new ConnectionError('The connection to the server was lost', { cause: error });
    }
  }

  #take(data: string): void {
    try {
      receiveJson(this, data);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  /** The server may not send our messages, and the credentials with them, to somebody else. */
  #checkEndpoint(address: string): URL {
    const endpoint = URL.parse(address, this.#url.href);
    if (endpoint?.origin === this.#url.origin) return endpoint;
    throw new ProtocolError('The server wants messages to be sent to another host, which is refused');
  }

  async #lose(reason: CribError): Promise<void> {
    if (this.#closed !== undefined) return;
    this.#lost = (await this.#explainLoss?.(reason)) ?? reason;
    await this.close();
  }
}

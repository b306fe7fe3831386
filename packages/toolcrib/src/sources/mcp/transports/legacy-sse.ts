import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import { ConnectionError, ProtocolError } from '../../../model/named-errors.ts';
import type { Egress } from '../../../net/egress.ts';
import type { HttpClient } from '../../../net/http-client.ts';
import type { HttpResponse } from '../../../net/http-exchange.ts';
import { readBody } from '../../../net/read-body.ts';
import { readEventStream } from '../../../net/read-event-stream.ts';
import type { McpTransport, Tap } from '../session/mcp-transport.ts';
import type { SessionLoss } from '../session/session-loss.ts';
import { receiveJson } from './http-inbox.ts';
import { protocolFirst, traceHeaders } from './streamable-http-headers.ts';
import { requestWithCredentials, type HttpCredentials } from '../../upstream/request-with-credentials.ts';
import { statusError } from './streamable-http-status.ts';

export interface LegacySseOptions extends HttpCredentials {
  egress: Egress;
  url: string | URL;
  /** Allows plain http to other machines. */
  allowInsecure?: boolean;
  maxMessageBytes?: number;
  /** How the process that we started for it ended, where that is why the stream did. */
  processLoss?(): Promise<SessionLoss | undefined>;
  /** Called after it has been closed. */
  afterClose?(): Promise<void>;
}

const maxRefusalBytes = 65_536;

/** [MCP-2] A server of the first revision over HTTP: it sends everything on one stream, and names an address for our messages. */
export function createLegacySseTransport(options: LegacySseOptions): McpTransport {
  return new LegacySseTransport(options);
}

/**
 * The stream is never opened again in place: to the server a new stream is a new session, and the work for the old one is lost. The owner of
 * the session learns of the loss and opens another.
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
  readonly #processLoss: LegacySseOptions['processLoss'];
  readonly #afterClose: LegacySseOptions['afterClose'];
  #version: string | undefined;
  #endpoint: URL | undefined;
  loss: SessionLoss | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: LegacySseOptions) {
    const { egress, url, allowInsecure = false, maxMessageBytes = 32 * 1024 * 1024, processLoss, afterClose, ...credentials } = options;
    this.#url = egress.checkAddress(url, allowInsecure);
    this.#client = egress.httpClient({ origin: this.#url.origin });
    this.#credentials = credentials;
    this.#maxBytes = maxMessageBytes;
    this.#processLoss = processLoss;
    this.#afterClose = afterClose;
  }

  async start(): Promise<void> {
    const headers = { accept: 'text/event-stream' };
    const response = await requestWithCredentials(
      this.#client,
      { method: 'GET', url: this.#url, headers },
      this.#credentials,
      protocolFirst,
    );
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

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#endpoint === undefined || this.#closed !== undefined)
      throw this.loss?.error ?? new ConnectionError('The session is not open');
    const headers = {
      'content-type': 'application/json',
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
      ...traceHeaders(message),
    };
    const request = { method: 'POST' as const, url: this.#endpoint, headers, body: JSON.stringify(message) };
    const response = await requestWithCredentials(this.#client, request, this.#credentials, protocolFirst);
    if (response.status >= 300) throw statusError(response, await readBody(response, maxRefusalBytes).catch(() => ''), true);
    await response.body.dump();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#client.destroy();
    this.onclose?.();
    await this.#afterClose?.();
  }

  /** Reads until the stream ends, and returns why it did. */
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

  /** The server must not redirect our messages, with our credentials, to another host. */
  #checkEndpoint(address: string): URL {
    const endpoint = URL.parse(address, this.#url.href);
    if (endpoint?.origin === this.#url.origin) return endpoint;
    throw new ProtocolError('The server wants messages to be sent to another host, which is refused');
  }

  async #lose(reason: CribError): Promise<void> {
    if (this.#closed !== undefined) return;
    this.loss = (await this.#processLoss?.()) ?? { cause: 'connection-ended', error: reason };
    await this.close();
  }
}

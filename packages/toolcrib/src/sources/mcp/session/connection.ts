import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/client';
import { isObject, type JsonObject } from '../../../model/json.ts';
import { ConnectionError } from '../../../model/named-errors.ts';
import type { Wire } from '../../upstream/logs/session-wire.ts';
import { answerQuestion, isForm } from './elicitation.ts';
import type { Exchange } from './exchange.ts';
import { isChildProcess, type McpPostOptions, type McpSendOptions, type McpTransport, type Tap } from './mcp-transport.ts';
import type { OfferedList } from './mcp-session.ts';
import { passedOn } from './passed-on.ts';
import { Requests } from './requests.ts';
import type { SessionLoss } from './session-loss.ts';

const logLevels = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
} as const;

interface ConnectionOptions {
  /** [OPS-1] Notes every message while somebody wants to see them. */
  wire?: Wire | undefined;
  /** Called with failures that do not end the session. */
  report(error: unknown): void;
}

/**
 * All messages of a session pass here, in both directions. To the SDK's client it is the transport. It takes the answers to our own requests
 * and the messages that belong to a call; the rest goes to the SDK.
 */
export class Connection implements Transport, Tap {
  /** These three are the SDK's. */
  onmessage?: Transport['onmessage'];
  onerror?: Transport['onerror'];
  onclose?: Transport['onclose'];
  onListChanged: ((what: 'tools' | OfferedList) => void) | undefined;
  onResourceUpdated: ((uri: string) => void) | undefined;
  /** Called when the transport has ended, by itself or because it was closed. */
  onEnd: ((loss: SessionLoss) => void) | undefined;
  readonly hasPerRequestStream: boolean;
  readonly requests: Requests;
  /** In `performance.now()` milliseconds. */
  lastMessageAt = performance.now();
  /** Whether the server has answered the SDK's probe, which asks for its revision. */
  probeAnswered = false;
  /** Once the handshake has begun, nobody waits for the answer to the probe any more. */
  #probeIsOver = false;
  readonly #transport: McpTransport;
  readonly #wire: Wire | undefined;
  readonly #report: (error: unknown) => void;

  constructor(transport: McpTransport, { wire, report }: ConnectionOptions) {
    this.#transport = transport;
    this.#wire = wire;
    this.#report = report;
    this.hasPerRequestStream = transport.hasPerRequestStream === true;
    this.requests = new Requests(this);
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    const transport = this.#transport;
    transport.tap = this;
    transport.onmessage = (message, extra) => this.onmessage?.(message, extra);
    transport.onerror = (error) => this.onerror?.(error);
    transport.onclose = () => this.#ended();
    return transport.start();
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  send(message: JSONRPCMessage, options?: McpSendOptions): Promise<void> {
    if ('method' in message && message.method === 'initialize') this.#probeIsOver = true;
    if (this.#wire?.log.on === true) this.#wire.note('sent', message);
    return this.#transport.send(message, options);
  }

  /** The same for requests of ours, without a promise where the transport needs none. Throws, or calls `failed`. */
  post(message: JSONRPCMessage, options: McpPostOptions | undefined, failed: (error: unknown) => void): void {
    if (this.#wire?.log.on === true) this.#wire.note('sent', message);
    if (this.#transport.post === undefined) this.#transport.send(message, options).catch(failed);
    else this.#transport.post(message, options, failed);
  }

  /** Every message of the server comes here first. True where it was for us. */
  take(message: JSONRPCMessage, relatedTo?: RequestId, json?: string): boolean {
    if (this.#wire?.log.on === true) this.#wire.note('received', message);
    this.lastMessageAt = performance.now();
    const { id, method, params } = message as { id?: RequestId; method?: string; params?: unknown };
    try {
      if (method === undefined) return this.requests.takeAnswer(message as { id?: unknown }, json) || this.#takeProbeAnswer(id);
      return id === undefined ? this.#takeNotification(method, params, relatedTo) : this.#takeRequest(id, method, params, relatedTo);
    } catch (error) {
      // A listener of ours failed, which must not affect the connection and the other calls on it.
      this.#report(error);
      return true;
    }
  }

  #takeProbeAnswer(id: RequestId | undefined): boolean {
    if (typeof id !== 'string' || !id.startsWith('server-discover-probe')) return false;
    this.probeAnswered = true;
    return this.#probeIsOver;
  }

  #takeNotification(method: string, params: unknown, relatedTo: RequestId | undefined): boolean {
    switch (method) {
      case 'notifications/progress':
        return this.requests.takeProgress(params);
      case 'notifications/message':
        if (isObject(params)) this.requests.callOf(relatedTo)?.log(levelOf(params['level']), params['data'] ?? null);
        return true;
      case 'notifications/tools/list_changed':
        this.onListChanged?.('tools');
        return false;
      case 'notifications/resources/list_changed':
        this.onListChanged?.('resources');
        return false;
      case 'notifications/prompts/list_changed':
        this.onListChanged?.('prompts');
        return false;
      case 'notifications/resources/updated':
        if (isObject(params) && typeof params['uri'] === 'string') this.onResourceUpdated?.(params['uri']);
        return false;
      default:
        return false;
    }
  }

  /** A server of the stateless revision sends no requests: it asks questions in its answers. */
  #takeRequest(id: RequestId, method: string, params: unknown, relatedTo: RequestId | undefined): boolean {
    if (this.requests.envelope !== undefined) return false;
    const call = this.requests.callOf(relatedTo);
    if (method === 'elicitation/create') {
      if (isForm(params)) void answerQuestion(params, call, String(id)).then((result) => this.#reply({ id, result }));
      else this.#reply({ id, error: { code: -32602, message: 'Only forms can be answered here' } });
      return true;
    }
    if (!passedOn.has(method)) return false;
    void this.#passOn(id, method, isObject(params) ? params : {}, call);
    return true;
  }

  /** [DOOR-5] A request that the client of the caller may answer. */
  async #passOn(id: RequestId, method: string, params: JsonObject, call: Exchange | undefined): Promise<void> {
    try {
      const asked = call?.askClient(method, params, String(id));
      if (call === undefined || asked === undefined) throw new ConnectionError('There is no client to ask');
      this.#reply({ id, result: await call.whileAsking(asked) });
    } catch {
      this.#reply({ id, error: { code: -1, message: `The client does not offer ${method}, or has declined` } });
    }
  }

  #reply(answer: JsonObject): void {
    this.send({ jsonrpc: '2.0', ...answer } as unknown as JSONRPCMessage).catch(this.#report);
  }

  #ended(): void {
    this.onclose?.();
    this.onEnd?.(
      this.#transport.loss ?? { cause: 'connection-ended', error: new ConnectionError('The connection to the server was lost') },
    );
  }
}

/** By these two members the SDK recognises a child process, which may be slow to answer its probe or end because of it. */
class ChildConnection extends Connection {
  readonly stderr = null;
  readonly pid = 0;
}

export function createConnection(transport: McpTransport, options: ConnectionOptions): Connection {
  return isChildProcess(transport) ? new ChildConnection(transport, options) : new Connection(transport, options);
}

function levelOf(level: unknown): 'debug' | 'info' | 'warning' | 'error' {
  return typeof level === 'string' && Object.hasOwn(logLevels, level) ? logLevels[level as keyof typeof logLevels] : 'info';
}

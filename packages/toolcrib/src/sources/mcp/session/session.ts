import type { Client } from '@modelcontextprotocol/client';
import type { CallOutcome } from '../../../model/call-outcome.ts';
import type { ToolOutput } from '../../../model/call.ts';
import { CribError } from '../../../model/crib-error.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import { outputFromContents, outputFromResult, outputFromRpcError } from './call-result.ts';
import { KnownCatalogue } from './catalogue.ts';
import { completeRequest } from './complete-request.ts';
import type { Connection } from './connection.ts';
import { Exchange } from './exchange.ts';
import { listFields, readList } from './read-list.ts';
import type { ListLimits } from './list-pages.ts';
import type { McpCallOptions, McpSession, OfferedList } from './mcp-session.ts';
import type { SourceInfo } from '../../open-source.ts';
import { paramHeaders } from './param-headers.ts';
import type { Requests } from './requests.ts';
import { ResourceWatches, watchMethod } from './resource-watches.ts';
import { resourcePrefix } from './resource-tools.ts';
import { RpcError } from './session-errors.ts';
import { isHeaderMismatch, StartedCall, type CallingSession, type ToolParams } from './started-call.ts';
import { SessionLostError } from '../../upstream/session-lost.ts';
import type { SessionLoss } from './session-loss.ts';
import { subscribeToChanges } from './tool-changes.ts';
import type { SkippedTool } from './tool-definition.ts';

/** The server has stopped speaking the revision that was agreed on. */
const unsupportedVersion = -32_022;

export interface SessionInput {
  client: Client;
  connection: Connection;
  info: SourceInfo;
  /** Whether its transport is HTTP. */
  overHttp: boolean;
  /** For one page of a list. */
  requestTimeoutMs: number;
  listLimits: ListLimits;
  /** Called after a listing with the tools that were left out. */
  onSkipped(skipped: SkippedTool[]): void;
  changedSecrets?: McpSession['changedSecrets'];
}

/** The session over a connection that has been opened. */
export class Session implements McpSession, CallingSession {
  readonly info: SourceInfo;
  readonly changedSecrets: McpSession['changedSecrets'];
  calls = 0;
  readonly #input: SessionInput;
  readonly #connection: Connection;
  readonly #requests: Requests;
  readonly #catalogue: KnownCatalogue;
  /** The stateless revision. */
  readonly #modern: boolean;
  readonly #offersResources: boolean;
  readonly #perHttpHeaders: boolean;
  #ended: CribError | undefined;
  #loss: SessionLoss | undefined;
  readonly #lostListeners: ((loss: SessionLoss) => void)[] = [];
  readonly #changeListeners: (() => void)[] = [];
  readonly #offerListeners: ((what: OfferedList) => void)[] = [];
  readonly #watches: ResourceWatches;
  #changes: { stop(): void } | undefined;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(input: SessionInput) {
    const { client, connection, info, overHttp, listLimits: limits } = input;
    const { requests } = connection;
    const { tools, resources } = client.getServerCapabilities() ?? {};
    this.info = info;
    this.changedSecrets = input.changedSecrets;
    this.#input = input;
    this.#connection = connection;
    this.#requests = requests;
    this.#modern = requests.envelope !== undefined;
    this.#offersResources = resources !== undefined;
    this.#perHttpHeaders = this.#modern && overHttp;
    const offers = { tools: tools !== undefined, resources: resources !== undefined };
    this.#catalogue = new KnownCatalogue({ requests, offers, version: info.version, perHttpHeaders: this.#perHttpHeaders, limits });
    connection.onEnd = (loss) => this.#connectionEnded(loss);
    this.#watches = new ResourceWatches({ client, requests, modern: this.#modern, timeoutMs: input.requestTimeoutMs });
    connection.onListChanged = (what) => this.#listChanged(what);
    connection.onResourceUpdated = (uri) => this.#watches.updated(uri);
  }

  get connected(): boolean {
    return this.#ended === undefined;
  }

  get lastMessageAt(): number {
    return this.#connection.lastMessageAt;
  }

  get waitingSince(): number {
    return this.#requests.oldestCall;
  }

  async callTool(name: string, args: JsonObject, options: McpCallOptions): Promise<ToolOutput> {
    this.#checkOpen();
    const exchange = this.#begin(options);
    try {
      const uri = this.#mayBeResource(name) ? (await this.#catalogue.get(true, exchange)).uris.get(name)?.(args) : undefined;
      if (uri !== undefined) return outputFromContents(await this.#complete('resources/read', { uri }, exchange));
      const params = { name, arguments: args };
      return outputFromResult(
        await (this.#perHttpHeaders ? this.#callWithHeaders(params, exchange) : this.#complete('tools/call', params, exchange)),
      );
    } catch (error) {
      return this.outputOfFailure(error);
    } finally {
      this.end(exchange);
    }
  }

  async ask(method: string, params: JsonObject, options: McpCallOptions): Promise<ToolOutput> {
    this.#checkOpen();
    if (method === watchMethod) return this.#watch(params, options);
    const exchange = this.#begin(options);
    try {
      const field = listFields[method];
      if (field === undefined) return { content: [], structured_content: await this.#complete(method, params, exchange) };
      const offered = this.#input.client.getServerCapabilities()?.[field === 'prompts' ? 'prompts' : 'resources'] !== undefined;
      const entries = offered ? await readList(field, (page) => this.#complete(method, page, exchange), this.#input.listLimits) : [];
      return { content: [], structured_content: { [field]: entries } };
    } catch (error) {
      return this.outputOfFailure(error);
    } finally {
      this.end(exchange);
    }
  }

  /** It is no call: a session that is replaced is closed although somebody watches, who then watches on the next one. */
  async #watch({ uri }: JsonObject, { watcher, signal }: McpCallOptions): Promise<ToolOutput> {
    try {
      if (watcher !== undefined && typeof uri === 'string') await this.#watches.watch(uri, watcher, signal);
      return { content: [] };
    } catch (error) {
      return this.outputOfFailure(error);
    }
  }

  startTool(name: string, args: JsonObject, options: McpCallOptions, outcome: CallOutcome): boolean {
    if (this.#ended !== undefined || options.signal.aborted || this.#mayBeResource(name)) return false;
    const exchange = this.#begin(options);
    const params = { name, arguments: args };
    const headers = this.#perHttpHeaders ? this.#headersOf(params) : undefined;
    const call = new StartedCall({ session: this, requests: this.#requests, params, headers, exchange, outcome });
    this.#requests.start('tools/call', params, exchange, call, headers);
    return true;
  }

  #begin(options: McpCallOptions): Exchange {
    this.calls++;
    return new Exchange(options, true);
  }

  end(exchange: Exchange): void {
    exchange.done();
    if (--this.calls === 0) this.#idle?.resolve();
  }

  /** A tool may be a resource under a tool's name; a server's own tool with such a name wins. */
  #mayBeResource(name: string): boolean {
    return this.#offersResources && name.startsWith(resourcePrefix);
  }

  async listTools({ signal, resources }: { signal: AbortSignal; resources: boolean }): Promise<DiscoveredTool[]> {
    this.#checkOpen();
    const { requestTimeoutMs: timeoutMs, onSkipped } = this.#input;
    let page: Exchange | undefined;
    const nextPage = () => {
      page?.done();
      page = new Exchange({ timeoutMs, maxTotalMs: timeoutMs, signal }, false);
      return page;
    };
    try {
      const { tools, skipped } = await this.#catalogue.read(resources, nextPage);
      if (skipped.length > 0) onSkipped(skipped);
      return tools;
    } catch (error) {
      this.#noticeLoss(error);
      throw error;
    } finally {
      page?.done();
    }
  }

  async ping({ signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number }): Promise<void> {
    this.#checkOpen();
    const exchange = new Exchange({ timeoutMs, maxTotalMs: timeoutMs, signal }, false);
    try {
      await this.#requests.send(this.#modern ? 'server/discover' : 'ping', {}, exchange);
    } catch (error) {
      this.#noticeLoss(error);
      // A server that refuses a ping is there.
      if (!(error instanceof RpcError)) throw error;
    } finally {
      exchange.done();
    }
  }

  onLost(listener: (loss: SessionLoss) => void): void {
    if (this.#loss === undefined) this.#lostListeners.push(listener);
    else listener(this.#loss);
  }

  lose(loss: SessionLoss): void {
    if (this.#ended !== undefined) return;
    this.#ended = loss.error;
    this.#loss = loss;
    this.#changes?.stop();
    this.#watches.end();
    for (const listener of this.#lostListeners) listener(loss);
  }

  onToolsChanged(listener: () => void): void {
    this.#changeListeners.push(listener);
    if (this.#modern) this.#changes ??= subscribeToChanges(this.#input.client, () => this.#listChanged('tools'));
  }

  onOffersChanged(listener: (what: OfferedList) => void): void {
    this.#offerListeners.push(listener);
  }

  async idle(): Promise<void> {
    if (this.calls > 0) await (this.#idle ??= Promise.withResolvers()).promise;
  }

  async close(reason?: CribError): Promise<void> {
    this.#ended ??= reason ?? new CribError('NETWORK_ERROR', 'The session has been closed', { retryable: true });
    this.#changes?.stop();
    this.#watches.end();
    this.#requests.failAll(this.#ended);
    await this.#input.client.close();
    await this.#connection.close();
  }

  #checkOpen(): void {
    const ended = this.#ended;
    if (ended !== undefined) throw new SessionLostError(ended.message, { code: ended.code, mayHaveRun: false, cause: ended });
  }

  /** For a failed tool call: an error that the server answered with is an output, everything else is thrown. */
  outputOfFailure(error: unknown): ToolOutput {
    if (error instanceof RpcError && error.rpcCode !== unsupportedVersion) return outputFromRpcError(error);
    const message = 'The server has changed to another revision of the protocol';
    const failure =
      error instanceof RpcError ? new SessionLostError(message, { mayHaveRun: false, lossCause: 'revision-changed', cause: error }) : error;
    this.#noticeLoss(failure);
    throw failure;
  }

  #noticeLoss(error: unknown): void {
    if (error instanceof SessionLostError) this.lose({ cause: error.lossCause, error });
  }

  #connectionEnded(loss: SessionLoss): void {
    const { code, message, details, summary, lastWords } = loss.error;
    const quoted = { details, summary, lastWords };
    const error = new SessionLostError(message, { code, ...quoted, mayHaveRun: true, lossCause: loss.cause, cause: loss.error });
    this.lose({ ...loss, error });
    this.#requests.failAll(error);
  }

  #listChanged(what: 'tools' | OfferedList): void {
    if (what !== 'tools') for (const listener of this.#offerListeners) listener(what);
    if (what === 'tools' || (what === 'resources' && this.#catalogue.withResources))
      for (const listener of this.#changeListeners) listener();
  }

  #complete(method: string, params: JsonObject, exchange: Exchange, headers?: Record<string, string>): Promise<JsonObject> {
    return this.#modern
      ? completeRequest(this.#requests, method, params, exchange, headers)
      : this.#requests.send(method, params, exchange);
  }

  #headersOf({ name, arguments: args }: ToolParams): Record<string, string> {
    return paramHeaders(this.#catalogue.current?.headers.get(name) ?? [], args);
  }

  async #callWithHeaders(params: ToolParams, exchange: Exchange): Promise<JsonObject> {
    try {
      return await this.#complete('tools/call', params, exchange, this.#headersOf(params));
    } catch (error) {
      if (!isHeaderMismatch(error)) throw error;
      return this.callWithNewHeaders(params, exchange);
    }
  }

  async callWithNewHeaders(params: ToolParams, exchange: Exchange): Promise<JsonObject> {
    await this.#catalogue.readAnew(false, exchange);
    return this.#complete('tools/call', params, exchange, this.#headersOf(params));
  }
}

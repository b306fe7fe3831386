import type { Client } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import type { McpServerInfo, McpSession } from '../mcp-session.ts';
import { createCaller } from './caller.ts';
import { readCatalogue, type Catalogue } from './catalogue.ts';
import { Exchange } from './exchange.ts';
import type { Incoming } from './incoming.ts';
import type { ListLimits } from './list-pages.ts';
import { isChildProcess, type McpTransport } from './mcp-transport.ts';
import type { Requests } from './requests.ts';
import { RpcError, SessionLostError } from './session-errors.ts';
import { subscribeToChanges } from './tool-changes.ts';
import type { SkippedTool } from './tool-definition.ts';

export interface SessionInput {
  client: Client;
  transport: McpTransport;
  requests: Requests;
  incoming: Incoming;
  info: McpServerInfo;
  /** For one page of a list. */
  requestTimeoutMs: number;
  listLimits: ListLimits;
  /** Told after every listing about what was left out of it. */
  onSkipped(skipped: SkippedTool[]): void;
}

/** The session over a connection that has been opened. */
export function createSession({ client, transport, requests, incoming, info, ...input }: SessionInput): McpSession {
  const modern = requests.envelope !== undefined;
  const perHttpHeaders = modern && !isChildProcess(transport);
  const offers = client.getServerCapabilities() ?? {};
  const lostListeners: ((reason: CribError) => void)[] = [];
  const changeListeners: (() => void)[] = [];
  let ended: CribError | undefined;
  let lost: CribError | undefined;
  let changes: { stop(): void } | undefined;
  let catalogue: Catalogue | undefined;
  let withResources = false;
  let calls = 0;
  let idle: PromiseWithResolvers<void> | undefined;

  const call = createCaller({
    requests,
    perHttpHeaders,
    offersResources: offers.resources !== undefined,
    known: () => catalogue,
    catalogue: async ({ resources, anew }, exchange) => {
      if (catalogue !== undefined && !anew && (withResources || !resources)) return catalogue;
      return read(resources || withResources, () => exchange);
    },
  });

  async function read(resources: boolean, exchangeForPage: () => Exchange): Promise<Catalogue> {
    const found = await readCatalogue(
      {
        fetchPage: (method, params) => requests.send(method, params, exchangeForPage()),
        offers: { tools: offers.tools !== undefined, resources: offers.resources !== undefined },
        version: info.version,
        perHttpHeaders,
        limits: input.listLimits,
      },
      resources,
    );
    catalogue = found;
    withResources = resources;
    return found;
  }

  function lose(reason: CribError): void {
    if (ended !== undefined) return;
    ended = lost = reason;
    changes?.stop();
    for (const listener of lostListeners) listener(reason);
  }

  /** An answer that says the session is gone ends it, whatever was asked. */
  async function noticingLoss<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof SessionLostError) lose(error);
      throw error;
    }
  }

  function checkOpen(): void {
    if (ended !== undefined) throw new SessionLostError(ended.message, { code: ended.code, mayHaveRun: false, cause: ended });
  }

  client.onclose = () => {
    const reason = transport.lossReason?.() ?? new CribError('NETWORK_ERROR', 'The connection to the server was lost', { retryable: true });
    const loss = new SessionLostError(reason.message, { code: reason.code, mayHaveRun: true, details: reason.details, cause: reason });
    lose(loss);
    requests.failAll(loss);
  };
  incoming.onListChanged = (what) => {
    if (what === 'tools' || withResources) for (const listener of changeListeners) listener();
  };

  return {
    info,
    get connected() {
      return ended === undefined;
    },
    get lastMessageAt() {
      return incoming.lastMessageAt;
    },

    async listTools({ signal, resources }) {
      checkOpen();
      const { requestTimeoutMs: timeoutMs } = input;
      let page: Exchange | undefined;
      const nextPage = () => {
        page?.done();
        page = new Exchange({ timeoutMs, maxTotalMs: timeoutMs, signal }, false);
        return page;
      };
      try {
        const { tools, skipped } = await noticingLoss(read(resources, nextPage));
        if (skipped.length > 0) input.onSkipped(skipped);
        return tools;
      } finally {
        page?.done();
      }
    },

    async callTool(name, args, options) {
      checkOpen();
      const exchange = new Exchange(options, true);
      calls++;
      try {
        return await call(name, args, exchange);
      } catch (error) {
        if (error instanceof SessionLostError) lose(error);
        throw error;
      } finally {
        exchange.done();
        if (--calls === 0) idle?.resolve();
      }
    },

    async ping({ signal, timeoutMs }) {
      checkOpen();
      const exchange = new Exchange({ timeoutMs, maxTotalMs: timeoutMs, signal }, false);
      try {
        await noticingLoss(requests.send(modern ? 'server/discover' : 'ping', {}, exchange));
      } catch (error) {
        // Who refuses to answer is there.
        if (!(error instanceof RpcError)) throw error;
      } finally {
        exchange.done();
      }
    },

    onLost(listener) {
      // Whoever comes too late to hear of it is told all the same.
      if (lost !== undefined) listener(lost);
      else lostListeners.push(listener);
    },
    onToolsChanged(listener) {
      changeListeners.push(listener);
      if (modern) changes ??= subscribeToChanges(client, () => incoming.onListChanged?.('tools'));
    },

    get calls() {
      return calls;
    },
    get waitingSince() {
      return requests.oldestCall;
    },
    async idle() {
      if (calls > 0) await (idle ??= Promise.withResolvers()).promise;
    },

    async close(reason) {
      ended ??= reason ?? new CribError('NETWORK_ERROR', 'The session has been closed', { retryable: true });
      changes?.stop();
      requests.failAll(ended);
      await client.close();
      await transport.close();
    },
  };
}

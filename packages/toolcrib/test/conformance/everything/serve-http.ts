import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import { createMcpHandler, isInitializeRequest, isLegacyRequest, type McpServer } from '@modelcontextprotocol/server';
import { startHttpServer } from '../../fixtures/http-server.ts';
import { Catalogue, watchedUri } from './catalogue.ts';
import { createServer } from './create-server.ts';
import { keptEvents } from './kept-events.ts';
import { withNamedRequests } from './named-requests.ts';

/** Which revisions a server speaks: those with sessions, the one without, or all. */
export type Era = 'legacy' | 'modern' | 'both';

/** The fixture over streamable HTTP, on a free loopback port or the given one. */
export async function startEverything({ era, port = 0 }: { era: Era; port?: number }) {
  const catalogue = new Catalogue();
  const modern = serveModern(catalogue);
  const legacy = serveLegacy(catalogue);
  const isAllowed = [localhostHostValidation(), localhostOriginValidation()];

  async function isLegacy(request: IncomingMessage, body: unknown): Promise<boolean> {
    if (era !== 'both') return era === 'legacy';
    return await isLegacyRequest(await toWebRequest(request, body), body);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isAllowed.every((check) => check(request, response))) return;
    const body = request.method === 'POST' ? await json(request).catch(() => undefined) : undefined;
    await ((await isLegacy(request, body)) ? legacy : modern).handle(request, response, body);
  }

  const server = await startHttpServer((request, response) => void serve(request, response), port);
  return {
    url: `${server.origin}/mcp`,
    catalogue,
    async [Symbol.asyncDispose]() {
      await modern.close();
      await legacy.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A server for every request. */
function serveModern(catalogue: Catalogue) {
  const handler = createMcpHandler(() => createServer({ catalogue, stays: false }), { legacy: 'reject' });
  catalogue.on('change', (kind) => (kind === 'tools' ? handler.notify.toolsChanged() : handler.notify.promptsChanged()));
  catalogue.on('update', () => handler.notify.resourceUpdated(watchedUri));
  return { handle: toNodeHandler(handler), close: () => handler.close() };
}

/** A server for every session. */
function serveLegacy(catalogue: Catalogue) {
  const sessions = new Map<string, { transport: NodeStreamableHTTPServerTransport; server: McpServer }>();

  async function open(): Promise<NodeStreamableHTTPServerTransport> {
    const server = createServer({ catalogue, stays: true });
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: keptEvents(),
      retryInterval: 100,
      onsessioninitialized: (id) => void sessions.set(id, { transport, server }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await server.connect(withNamedRequests(transport));
    return transport;
  }

  return {
    async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? sessions.get(id)?.transport : undefined;
      if (known !== undefined) return await known.handleRequest(request, response, body);
      if (isInitializeRequest(body)) return await (await open()).handleRequest(request, response, body);
      const [status, message] = id === undefined ? [400, 'Begin with initialize'] : [404, 'Unknown session'];
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }));
    },
    async close(): Promise<void> {
      for (const { server } of sessions.values()) await server.close();
    },
  };
}

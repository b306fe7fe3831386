/**
 * An upstream that needs to know who calls: an MCP server over HTTP that accepts tokens of one issuer, and only those issued for it.
 * `npx node examples/keycloak/pizzeria.ts http://127.0.0.1:18080/realms/toolcrib 7410` serves it at http://127.0.0.1:7410/mcp
 *
 * Tools: whoami {} (who calls), order_pizza {pizza, count} (in three steps; needs the role orders:write), list_orders {} (the caller's own;
 * needs orders:read)
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { z } from 'zod';

const menu: readonly string[] = ['margherita', 'funghi', 'diavola'];

const callerSchema = z.object({ sub: z.string(), aud: z.union([z.string(), z.array(z.string())]), preferred_username: z.string() });
interface Caller extends z.infer<typeof callerSchema> {
  roles: string[];
}
interface Order {
  pizza: string;
  count: number;
}

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const failed = (text: string) => ({ ...said(text), isError: true });
const missing = (role: string, caller: Caller) => failed(`${caller.preferred_username} may not do this: the role ${role} is missing.`);

/** Serves every path, for tokens of the given audience. */
export function createPizzeria({ issuer, audience }: { issuer: string; audience: string }): RequestListener {
  const keys = createRemoteJWKSet(new URL(`${issuer}/protocol/openid-connect/certs`));
  const ordersOf = new Map<string, Order[]>();

  /** A token for another service, or an ID token, is refused. */
  async function callerOf(token: string): Promise<Caller> {
    const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: ['RS256'], typ: 'at+jwt' });
    const access = z.record(z.string(), z.object({ roles: z.array(z.string()) })).parse(payload.resource_access ?? {});
    return { ...callerSchema.parse(payload), roles: access[audience]?.roles ?? [] };
  }

  function serverFor(caller: Caller): McpServer {
    const server = new McpServer({ name: 'pizzeria', version: '1.0.0' });
    server.registerTool('whoami', { description: 'Says as whom the pizzeria is called', inputSchema: z.object({}) }, async () => ({
      ...said(caller.preferred_username),
      structuredContent: { username: caller.preferred_username, subject: caller.sub, audience: caller.aud, roles: caller.roles },
    }));
    const orderSchema = z.object({ pizza: z.string().describe('As it is on the menu'), count: z.int().min(1).max(20) });
    const orderTool = { description: 'Orders pizza in the name of the caller', inputSchema: orderSchema };
    server.registerTool('order_pizza', orderTool, async ({ pizza, count }, { mcpReq }) => {
      if (!caller.roles.includes('orders:write')) return missing('orders:write', caller);
      if (!menu.includes(pizza)) return failed(`There is no ${pizza} on the menu. There is: ${menu.join(', ')}.`);
      const progressToken = mcpReq._meta?.progressToken;
      for (const [step, message] of ['kneading', 'baking', 'boxing'].entries()) {
        if (progressToken === undefined) break;
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: step + 1, total: 3, message } });
      }
      ordersOf.set(caller.sub, [...(ordersOf.get(caller.sub) ?? []), { pizza, count }]);
      return said(`${count} ${pizza} for ${caller.preferred_username}`);
    });
    const listTool = {
      description: 'Lists the pizza orders of the caller',
      inputSchema: z.object({}),
      annotations: { readOnlyHint: true },
    };
    server.registerTool('list_orders', listTool, async () => {
      if (!caller.roles.includes('orders:read')) return missing('orders:read', caller);
      const orders = ordersOf.get(caller.sub) ?? [];
      return { ...said(`${orders.length} orders`), structuredContent: { orders } };
    });
    return server;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let caller: Caller;
    try {
      caller = await callerOf(request.headers.authorization?.replace(/^Bearer /, '') ?? '');
    } catch {
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
      return;
    }
    // A server for each request, so that nothing of one caller is left for the next.
    await toNodeHandler(createMcpHandler(() => serverFor(caller)))(request, response);
  }
  return (request, response) => void serve(request, response);
}

if (import.meta.main) {
  const [issuer, port] = process.argv.slice(2);
  if (issuer === undefined || port === undefined) throw new Error('Give the issuer to trust and the port to listen on');
  createServer(createPizzeria({ issuer, audience: 'pizzeria-api' })).listen(Number(port), '127.0.0.1', () => {
    console.log(`The pizzeria is open at http://127.0.0.1:${port}/mcp`);
  });
}

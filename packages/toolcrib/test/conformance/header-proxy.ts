import { Agent, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { startHttpServer } from '../fixtures/http-server.ts';

export interface HeaderProxy extends AsyncDisposable {
  url: string;
}

/**
 * Adds headers to every request on its way to a server, since the suites cannot send any of their own, such as a token. Everything else passes
 * as it is, byte for byte as it comes, so that streams stay streams. Who calls the proxy by its own name calls the server by the server's
 * name; any other `Host` or `Origin` is passed on, for the server to refuse.
 */
export async function startHeaderProxy({ target, headers }: { target: string; headers: Record<string, string> }): Promise<HeaderProxy> {
  const { origin, host, hostname, port, pathname, search } = new URL(target);
  const agent = new Agent({ keepAlive: true });

  function pass(request: IncomingMessage, response: ServerResponse): void {
    const names = new Map([
      [new URL(proxy.origin).host, host],
      [proxy.origin, origin],
    ]);
    const added = Object.entries(headers).flat();
    const given = request.rawHeaders.map((text, index) => (index % 2 === 1 ? (names.get(text) ?? text) : text));
    const upstream = send({ agent, hostname, port, method: request.method, path: request.url, headers: [...given, ...added] });
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    upstream.on('error', () => response.destroy());
    // Closing a stream cancels its request.
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  const proxy = await startHttpServer(pass);
  return {
    url: `${proxy.origin}${pathname}${search}`,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      agent.destroy();
    },
  };
}

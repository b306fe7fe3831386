import { once } from 'node:events';
import { CribError } from '../model/crib-error.ts';
import { http } from '../net/node-http.ts';
import type { MetricsGuard } from './metrics-guard.ts';
import type { Metrics } from './metrics.ts';

export interface ListenAddress {
  host: string;
  /** 0 takes any free port. */
  port: number;
}

interface MetricsListenerInput extends ListenAddress {
  metrics: Metrics;
  guard: MetricsGuard;
}

/** [OPS-1] A port for metrics only, so that a firewall can separate metric collectors from callers. */
export async function openMetricsListener({ host, port, metrics, guard }: MetricsListenerInput) {
  const server = http.createServer((request, response) => {
    response.setHeader('cache-control', 'no-store').setHeader('x-content-type-options', 'nosniff');
    const isMetrics = request.method === 'GET' && request.url?.split('?')[0] === '/metrics';
    const refused = isMetrics ? guard(request.headers.authorization) : new CribError('NOT_FOUND', 'There is only GET /metrics here');
    if (refused !== undefined) {
      response.writeHead(refused.httpStatus, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(refused));
      return;
    }
    metrics.text().then(
      (text) => response.setHeader('content-type', metrics.contentType).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  await once(server, 'listening').catch((error: Error & { code?: string }) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CribError('CONFLICT', `Port ${port} of ${host} is taken: choose another with --metrics-listen`);
  });
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

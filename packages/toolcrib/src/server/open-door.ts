import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Crib } from '../crib.ts';
import { createApp } from '../http/app.ts';
import { createMetricsGuard } from '../http/metrics-guard.ts';
import { openMetricsListener } from '../http/metrics-listener.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Route } from '../http/route.ts';
import { bindClaims } from '../identity/claims-by-issuer.ts';
import type { IssuerConfig } from '../identity/issuer-config.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { CribError } from '../model/crib-error.ts';
import { compileClaimCheck } from '../policy/claim-check.ts';
import type { Address } from './address.ts';
import { apiRoutes } from './api-routes.ts';
import type { ServeConfig } from './server-config.ts';

interface DoorInput {
  config: ServeConfig;
  crib: Crib;
  verifier: TokenVerifier;
  issuers: readonly IssuerConfig[];
  address: Address;
  metrics: Metrics;
  logger: Logger;
  /** Of a server in development. */
  development: { routes: Route[]; addRoutes(app: FastifyInstance): void } | undefined;
}

export interface Door {
  /** Where metrics have a port of their own. */
  metricsUrl: string | undefined;
  /** Takes on nothing more. */
  shut(): Closing;
}

interface Closing {
  /** Resolves when the last answers have been sent, or their time is over. */
  answered: Promise<unknown>;
  end(): Promise<void>;
}

/** How long the last answers may take to be sent. */
const lastWordsMs = 2000;
const sweepEveryMs = 50;

/** Puts the routes together and listens. */
export async function openDoor({ config, crib, verifier, issuers, address, metrics, logger, development }: DoorInput): Promise<Door> {
  const { host, metricsToken } = config;
  const { port, publicUrl } = address;
  const closing = new AbortController();
  const administers = compileClaimCheck(bindClaims(issuers, config).administrators);
  const metricsGuard = createMetricsGuard({ token: metricsToken, open: development !== undefined });
  const routes = apiRoutes({ crib, verifier, issuers, administers, metrics, metricsGuard, publicUrl, closing: closing.signal });
  const publicHost = config.publicUrl === undefined ? [] : [new URL(config.publicUrl).host];
  const app = createApp({
    routes: [...routes, ...(development?.routes ?? [])],
    executor: crib.executor,
    verifier,
    administers,
    guard: { host, allowedHosts: [...config.allowedHosts, ...publicHost], allowedOrigins: config.allowedOrigins },
    trustedProxies: config.trustedProxies,
    closing: closing.signal,
    bodyLimitBytes: config.bodyLimitBytes,
    onRefused: crib.refusals.note,
    requestRate: crib.requestRate,
    metrics,
    logger,
    tracer: crib.tracing?.tracer,
  });
  development?.addRoutes(app);
  const metricsListener =
    config.metricsListen &&
    (await openMetricsListener({ ...config.metricsListen, metrics, guard: createMetricsGuard({ token: metricsToken, open: true }) }));
  await app.listen({ host, port }).catch(async (error: Error & { code?: string }) => {
    await metricsListener?.[Symbol.asyncDispose]();
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CribError('CONFLICT', `Port ${port} of ${host} is taken: stop what listens there, or choose another with --port`);
  });
  return {
    metricsUrl: metricsListener?.url,
    shut() {
      closing.abort();
      const answered = app.close();
      // Connections that fall idle after their last answer would stay open for the next request, which is not coming.
      const sweep = setInterval(() => app.server.closeIdleConnections(), sweepEveryMs);
      // A client that does not read its answer, or never ends its request, must not keep the server from stopping.
      const cut = setTimeout(() => app.server.closeAllConnections(), config.drainMs + lastWordsMs);
      return {
        answered,
        async end() {
          await metricsListener?.[Symbol.asyncDispose]();
          clearInterval(sweep);
          clearTimeout(cut);
        },
      };
    },
  };
}

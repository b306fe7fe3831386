import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Crib } from '../crib.ts';
import { createApp, takesPlainCalls } from '../http/app.ts';
import type { HostGuardConfig } from '../http/browser-guard.ts';
import type { Doors, DoorsInput } from '../http/doors/open-doors.ts';
import { createMetricsGuard } from '../http/metrics-guard.ts';
import { openMetricsListener } from '../http/metrics-listener.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Route } from '../http/route.ts';
import { bindClaims } from '../identity/claims-by-issuer.ts';
import type { DevIssuer } from '../identity/development/dev-issuer.ts';
import type { IssuerConfig } from '../identity/issuer-config.ts';
import type { TokenVerifier } from '../identity/verify-token.ts';
import { CribError } from '../model/crib-error.ts';
import { compileClaimCheck } from '../policy/claim-check.ts';
import type { Address } from './address.ts';
import { loginBridgeFor } from './login-bridge-for.ts';
import { apiRoutes } from './api-routes.ts';
import type { ServeConfig } from './server-config.ts';

interface McpDoorInput extends Pick<DoorInput, 'crib' | 'verifier' | 'logger'> {
  /** The issuers at which its clients log in. */
  authorizationServers: readonly string[];
  publicUrl: string;
  guard: HostGuardConfig;
  /** Aborts when the server begins to stop. */
  closing: AbortSignal;
}

interface DoorInput {
  config: ServeConfig;
  crib: Crib;
  verifier: TokenVerifier;
  issuers: readonly IssuerConfig[];
  address: Address;
  metrics: Metrics;
  logger: Logger;
  /** Of a server in development. */
  development: { issuer: DevIssuer; routes: Route[]; addRoutes(app: FastifyInstance): void } | undefined;
}

export interface Door {
  /** Where metrics have a port of their own. */
  metricsUrl: string | undefined;
  /** Resolves if it cannot be used any more. */
  broken: Promise<Error>;
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
  const routes = apiRoutes({
    crib,
    verifier,
    issuers,
    administers,
    metrics,
    metricsGuard,
    publicUrl,
    mcpDoor: config.mcpDoor ?? development !== undefined,
    closing: closing.signal,
  });
  const publicHost = config.publicUrl === undefined ? [] : [new URL(config.publicUrl).host];
  const guard = { host, allowedHosts: [...config.allowedHosts, ...publicHost], allowedOrigins: config.allowedOrigins };
  const { bodyLimitBytes, threads } = config;
  const { executor } = crib;
  const tracer = crib.tracing?.tracer;
  const hasPlainCalls = takesPlainCalls({ tracer, logger });
  const doors = await doorsFor({ threads, host, port, guard, bodyLimitBytes, hasPlainCalls, executor, verifier, closing: closing.signal });
  const bridge = await loginBridgeFor({
    config,
    crib,
    verifier,
    issuers,
    publicUrl,
    guard,
    logger,
    closing: closing.signal,
    developmentIssuer: development?.issuer,
  });
  const authorizationServers = bridge === undefined ? issuers.map(({ issuer }) => issuer) : [bridge.issuer];
  const login = { verifier, bridge: bridge?.tokens, authorizationServers, publicUrl, logger };
  const mcpDoor = await mcpDoorFor(config, development !== undefined, { crib, guard, closing: closing.signal, ...login });
  const app = createApp({
    routes: [...routes, ...(development?.routes ?? [])],
    otherLane: mcpDoor?.lane,
    addOthers: mcpDoor?.add,
    executor,
    verifier,
    administers,
    guard,
    trustedProxies: config.trustedProxies,
    closing: closing.signal,
    bodyLimitBytes,
    onRefused: crib.refusals.note,
    requestRate: crib.requestRate,
    doors,
    metrics,
    logger,
    tracer,
  });
  development?.addRoutes(app);
  bridge?.addRoutes(app);
  const metricsListener =
    config.metricsListen &&
    (await openMetricsListener({ ...config.metricsListen, metrics, guard: createMetricsGuard({ token: metricsToken, open: true }) }));
  const listening = doors === undefined ? app.listen({ host, port }) : doors.open((path) => app.listen({ path }));
  await listening.catch(async (error: Error & { code?: string }) => {
    await metricsListener?.[Symbol.asyncDispose]();
    if (doors !== undefined) await Promise.all([doors.end(), app.close()]);
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CribError('CONFLICT', `Port ${port} of ${host} is taken: stop what listens there, or choose another with --port`);
  });
  return {
    metricsUrl: metricsListener?.url,
    broken: doors?.broken ?? new Promise(() => undefined),
    shut() {
      closing.abort();
      // Threads pass on what comes over open connections, for as long as they have any.
      const answered = doors === undefined ? app.close() : doors.close().then(() => app.close());
      // Connections that fall idle after their last answer would stay open for the next request, which is not coming. Threads see to their own.
      const sweep = doors === undefined ? setInterval(() => app.server.closeIdleConnections(), sweepEveryMs) : undefined;
      // A client that does not read its answer, or never ends its request, must not keep the server from stopping.
      const cut = setTimeout(() => {
        doors?.cut();
        app.server.closeAllConnections();
      }, config.drainMs + lastWordsMs);
      return {
        answered,
        async end() {
          await metricsListener?.[Symbol.asyncDispose]();
          clearInterval(sweep);
          clearTimeout(cut);
          await doors?.end();
          await bridge?.close();
        },
      };
    },
  };
}

/** [DOOR-1] Loaded only where the operator opens it, or in development. */
async function mcpDoorFor({ mcpDoor, bodyLimitBytes }: ServeConfig, development: boolean, { crib, ...input }: McpDoorInput) {
  if (!(mcpDoor ?? development)) return undefined;
  const { createMcpDoor } = await import('../mcp-door/create-mcp-door.ts');
  return createMcpDoor({ ...input, bodyLimitBytes, parts: crib });
}

/** Loaded only where threads are wanted. */
async function doorsFor(input: DoorsInput): Promise<Doors | undefined> {
  return input.threads > 1 ? (await import('../http/doors/open-doors.ts')).createDoors(input) : undefined;
}

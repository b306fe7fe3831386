import { setTimeout as delay } from 'node:timers/promises';
import { pino, type Logger } from 'pino';
import { openCrib, type Crib } from '../crib.ts';
import { bindClaims } from '../identity/claims-by-issuer.ts';
import { issuerOrigins } from '../identity/issuer-config.ts';
import { createTokenVerifier, type TokenVerifier } from '../identity/verify-token.ts';
import { loadEmbedder } from '../inventory/search/load-embedder.ts';
import { CribError } from '../model/crib-error.ts';
import { freePort } from '../net/free-port.ts';
import { compileClaimCheck } from '../policy/claim-check.ts';
import { version } from '../version.ts';
import { createApp } from './app.ts';
import { createMetricsGuard } from './metrics-guard.ts';
import { openMetricsListener } from './metrics-listener.ts';
import { createMetrics } from './metrics.ts';
import { openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
import { administeredToolRoutes } from './routes/administered-tools.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { artifactRoutes } from './routes/artifacts.ts';
import { auditRoutes } from './routes/audit.ts';
import { callRoutes } from './routes/calls.ts';
import { configurationRoutes } from './routes/configuration.ts';
import { connectionRoutes } from './routes/connections.ts';
import { userConnectionRoutes } from './routes/user-connections.ts';
import { eventFeedRoutes } from './routes/event-feed.ts';
import { groupRoutes } from './routes/groups.ts';
import { healthRoutes } from './routes/health.ts';
import { meRoutes } from './routes/me.ts';
import { policyRoutes } from './routes/policies.ts';
import { recordRoutes } from './routes/records.ts';
import { secretRoutes } from './routes/secrets.ts';
import { sourceLogRoutes } from './routes/source-logs.ts';
import { sourceImportRoutes } from './routes/source-import.ts';
import { sourceRoutes } from './routes/sources.ts';
import { toolRoutes } from './routes/tools.ts';
import { utcpCallRoutes } from './routes/utcp-calls.ts';
import type { SeenSource } from './source-metrics.ts';
import { usualConfig, type ServeConfig } from './server-config.ts';

export interface Inventory {
  /** That can be called now. */
  tools: number;
  /** The namespaces of sources that are still being started, and may bring more. */
  starting: string[];
}

export interface RunningServer {
  readonly url: string;
  /** Where metrics have a port of their own. */
  readonly metricsUrl?: string;
  readonly dev: boolean;
  /** A development user's token; absent where real issuers are configured. */
  mint?(username: string): Promise<string>;
  /** The issuers whose keys cannot be fetched, so that their users are refused; waits so long for the first attempt. */
  unreachableIssuers(patienceMs: number): Promise<string[]>;
  /** What there is to call; waits so long for sources that are being started. */
  inventory(patienceMs: number): Promise<Inventory>;
  /** Whether the demo server is among the sources, or about to be. */
  readonly demo: boolean;
  /** The same of the pizzeria, a service that OpenAPI describes. */
  readonly pizzeria: boolean;
  close(): Promise<void>;
}

/** How long the last answers may take to be sent. */
const lastWordsMs = 2000;
const sweepEveryMs = 50;
const renewKeysMs = 60_000;

/** Builds everything in data order and opens the door last. What is not said is as usual. */
export async function startServer(given: Partial<ServeConfig> & Pick<ServeConfig, 'dataDir'>): Promise<RunningServer> {
  const config: ServeConfig = { ...usualConfig, ...given };
  const logger = pino({ level: config.logLevel, base: null }, pino.destination({ fd: 2, sync: true }));
  const warn = (message: string) => logger.warn(message);
  let opened: Crib | undefined;
  let serving = false;
  let door: Pick<TokenVerifier, 'issuerOf'> | undefined;
  const metrics = createMetrics({
    load: () => opened?.load(),
    namespaceOf: (sourceId) => opened?.counter.sources.get(sourceId)?.namespace,
    sources: () => (opened === undefined ? [] : seenSources(opened)),
    spans: () => opened?.tracing,
  });
  const { host, issuers } = config;
  // Before anything is opened: it may be what is wrong.
  const bound = issuers.length === 0 ? undefined : bindClaims(issuers, config);
  const embedder = config.embeddings === true ? await loadEmbedder() : undefined;
  // The development issuer is named by its address, which must therefore be known before anything is signed.
  const port = config.port === 0 ? await freePort(host) : config.port;
  const baseUrl = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const publicUrl = (config.publicUrl ?? baseUrl).replace(/\/+$/, '');
  const crib = await openCrib({
    publicUrl,
    development: bound === undefined,
    dataDir: config.dataDir,
    ...(config.databaseUrl === undefined ? {} : { databaseUrl: config.databaseUrl }),
    ...(config.keys === undefined ? {} : { keys: config.keys }),
    ...(config.allowedEnvironment === undefined ? {} : { allowedEnvironment: config.allowedEnvironment }),
    ...(config.allowedMounts === undefined ? {} : { allowedMounts: config.allowedMounts }),
    ...(bound === undefined ? {} : { runners: bound.runners, runRules: 'nothing' as const, separateUser: true }),
    ...(config.runRules === undefined ? {} : { runRules: config.runRules }),
    pinning: config.pinning ?? (config.issuers.length === 0 ? 'warn' : 'quarantine'),
    ...(config.registries === undefined ? {} : { registries: config.registries }),
    ...(config.dockerHost === undefined ? {} : { dockerHost: config.dockerHost }),
    ...(config.allowedNetworks === undefined && bound === undefined ? {} : { allowedNetworks: config.allowedNetworks ?? [] }),
    ...(config.proxy === undefined ? {} : { proxy: config.proxy, noProxy: config.noProxy ?? [] }),
    ...(config.caFile === undefined ? {} : { caFile: config.caFile }),
    requestLimits: config.requestLimits,
    limits: { principal: config.principalLimits, defaultTimeoutMs: config.defaultTimeoutMs, maxTimeoutMs: config.maxTimeoutMs },
    ...(config.checkMs === undefined ? {} : { checkMs: config.checkMs }),
    retentionDays: config.retentionDays,
    auditRetentionDays: config.auditRetentionDays,
    responseBytes: config.responseBytes,
    artifacts: { bytesPerPrincipal: config.artifactBytes, days: config.artifactDays },
    ...(embedder === undefined ? {} : { embedder }),
    ...(config.tracing === undefined ? {} : { tracing: config.tracing }),
    warn,
    // Nothing to tell of one that never served.
    onAuditHeads: (heads) => serving && logger.info({ heads }, 'audit-head'),
    onFinished: (record) => metrics.callFinished(record),
    onNotice: (notice, tool) => metrics.callNoticed(notice, tool.namespace),
    onSourceFault: (code, tool) => metrics.callFailed(code, tool.namespace),
    onRecorded: (batch) => metrics.recordWritten(batch),
    onSourceNotice: (notice, source) => metrics.sourceNoticed(notice, source.namespace),
    issuerOf: (issuer) => door?.issuerOf(issuer),
    onExchange: (outcome, ms) => metrics.tokenExchanged(outcome, ms),
  });
  opened = crib;
  try {
    const running = await openDoor({
      config,
      crib,
      metrics,
      logger,
      port,
      baseUrl,
      publicUrl,
      onVerifier: (verifier) => (door = verifier),
    });
    serving = true;
    return running;
  } catch (error) {
    await crib.close({ drainMs: 0 });
    throw error;
  }
}

interface DoorInput {
  config: ServeConfig;
  crib: Crib;
  metrics: ReturnType<typeof createMetrics>;
  logger: Logger;
  port: number;
  baseUrl: string;
  /** Where callers reach it, without a slash at its end. */
  publicUrl: string;
  /** The crib asks it who has issued a token. */
  onVerifier(verifier: TokenVerifier): void;
}

async function openDoor({ config, crib, metrics, logger, port, baseUrl, publicUrl, onVerifier }: DoorInput): Promise<RunningServer> {
  const { host } = config;
  // Loaded only where it is wanted.
  const development =
    config.issuers.length === 0 ? await (await import('./start-development.ts')).startDevelopment(config, crib, baseUrl) : undefined;
  const devIssuer = development?.issuer;
  const issuers = devIssuer === undefined ? config.issuers : [{ ...devIssuer.config, keySet: devIssuer.keySet }];
  const verifier = createTokenVerifier({
    fetchDocument: crib.egress.trusting(issuerOrigins(config.issuers)).fetchDocument,
    issuers,
    onFetchFailed: (error, issuer) =>
      logger.warn({ err: error, issuer }, "an issuer's keys could not be fetched: is its address right, and may this machine reach it?"),
  });
  onVerifier(verifier);
  if (development === undefined) await (await import('./end-development.ts')).endDevelopment(crib, logger);

  // Before the door is open: a server whose file cannot be applied would decide by other rules than those that were written down.
  const { configFile } = config;
  const following =
    configFile === undefined
      ? undefined
      : await (await import('./follow-config-file.ts')).followConfigFile({ path: configFile, crib, metrics, logger });
  const administers = compileClaimCheck(bindClaims(issuers, config).administrators);
  const closing = new AbortController();
  const routes: Route[] = [];
  let document: object | undefined;
  routes.push(
    ...toolRoutes({ crib, publicUrl }),
    ...callRoutes({ crib }),
    ...utcpCallRoutes({ crib }),
    ...artifactRoutes({ crib }),
    ...meRoutes({ crib, administers }),
    ...eventFeedRoutes({ crib, closing: closing.signal, metrics }),
    ...sourceRoutes({ crib, closing: closing.signal }),
    ...sourceImportRoutes({ crib }),
    ...sourceLogRoutes({ crib, closing: closing.signal }),
    ...recordRoutes({ crib }),
    ...auditRoutes({ crib, closing: closing.signal }),
    ...administeredToolRoutes({ crib }),
    ...approvalRoutes({ crib }),
    ...groupRoutes({ crib }),
    ...policyRoutes({ crib, verifier, administers, onlyIssuer: issuers.length === 1 ? issuers[0]?.issuer : undefined }),
    ...configurationRoutes({ crib }),
    ...secretRoutes({ crib }),
    ...connectionRoutes({ crib, administers }),
    ...userConnectionRoutes({ crib }),
    ...healthRoutes({
      metrics,
      metricsGuard: createMetricsGuard({ token: config.metricsToken, open: devIssuer !== undefined }),
      closing: closing.signal,
      unreachableIssuers: () => verifier.unreachable(),
      refusedBecause: () => crib.acceptance.reasons(),
      checkDatabase: () => crib.store.events.lastId(['policy']),
      openApi: () => (document ??= openApiDocument(routes, { version, publicUrl })),
    }),
  );
  const publicHost = config.publicUrl === undefined ? [] : [new URL(config.publicUrl).host];
  const app = createApp({
    routes: [...routes, ...(development?.routes ?? [])],
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
    (await openMetricsListener({
      ...config.metricsListen,
      metrics,
      guard: createMetricsGuard({ token: config.metricsToken, open: true }),
    }));
  await app.listen({ host, port }).catch(async (error: Error & { code?: string }) => {
    await metricsListener?.[Symbol.asyncDispose]();
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CribError('CONFLICT', `Port ${port} of ${host} is taken: stop what listens there, or choose another with --port`);
  });
  const metricsUrl = metricsListener?.url;
  logger.info({ url: baseUrl, version, development: devIssuer !== undefined, ...(metricsUrl && { metrics: metricsUrl }) }, 'serving');
  // Once the door is open, and from then on: an issuer that is down keeps nobody from starting, and is known before the first caller comes.
  const keysSought = verifier.renewKeys();
  const renewing = setInterval(() => void verifier.renewKeys(), renewKeysMs).unref();
  // Once the door is open: nobody waits for a demo.
  const demoPlaced = development
    ?.placeDemos()
    .catch((error: unknown) => logger.warn({ err: error }, 'the demo could not be brought along'));

  return {
    url: baseUrl,
    ...(metricsUrl === undefined ? {} : { metricsUrl }),
    dev: devIssuer !== undefined,
    ...(devIssuer === undefined ? {} : { mint: (username: string) => devIssuer.mint(username) }),
    async unreachableIssuers(patienceMs) {
      await Promise.race([keysSought, delay(patienceMs, undefined, { ref: false })]);
      return verifier.unreachable();
    },
    async inventory(patienceMs) {
      const until = Date.now() + patienceMs;
      await Promise.race([demoPlaced, delay(patienceMs, undefined, { ref: false })]);
      const { sources } = crib.counter;
      await Promise.all([...sources.keys()].map((id) => crib.settled(id, Math.max(0, until - Date.now()))));
      const starting = [...sources.values()].filter((source) => ['starting', 'restarting'].includes(crib.statusOf(source).state));
      return {
        tools: crib.counter.snapshot.tools.filter((tool) => tool.state === 'active').length,
        starting: starting.map(({ namespace }) => namespace),
      };
    },
    demo: development?.hasDemo ?? false,
    pizzeria: development?.hasPizzeria ?? false,
    async close() {
      clearInterval(renewing);
      closing.abort();
      const answered = app.close();
      // Connections that fall idle after their last answer would stay open for the next request, which is not coming.
      const sweep = setInterval(() => app.server.closeIdleConnections(), sweepEveryMs);
      // A client that does not read its answer, or never ends its request, must not keep the server from stopping.
      const cut = setTimeout(() => app.server.closeAllConnections(), config.drainMs + lastWordsMs);
      await demoPlaced;
      await following?.[Symbol.asyncDispose]();
      await crib.close({ drainMs: config.drainMs, answered });
      await metricsListener?.[Symbol.asyncDispose]();
      clearInterval(sweep);
      clearTimeout(cut);
      logger.info('stopped');
    },
  };
}

function seenSources(crib: Crib): SeenSource[] {
  return [...crib.counter.sources.values()].map((source) => ({
    namespace: source.namespace,
    enabled: source.enabled,
    running: crib.statusOf(source).state === 'running',
    sessions: crib.supervisor.sessionsOf(source.id),
  }));
}

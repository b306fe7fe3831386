import { setTimeout as delay } from 'node:timers/promises';
import { pino, type Logger } from 'pino';
import { openCrib, type Crib } from '../crib.ts';
import { createMetrics, type Metrics } from '../http/metrics.ts';
import { bindClaims } from '../identity/claims-by-issuer.ts';
import { issuerOrigins } from '../identity/issuer-config.ts';
import { createTokenVerifier, type TokenVerifier } from '../identity/verify-token.ts';
import { loadEmbedder } from '../inventory/search/load-embedder.ts';
import { version } from '../version.ts';
import { chooseAddress, type Address } from './address.ts';
import { cribConfigOf } from './crib-config-of.ts';
import { openDoor } from './open-door.ts';
import { usualConfig, type ServeConfig } from './server-config.ts';

export interface CallableTools {
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
  /** The issuers whose keys cannot be fetched, so that their users are refused. Waits up to `patienceMs` for the first attempt. */
  unreachableIssuers(patienceMs: number): Promise<string[]>;
  /** The tools that can be called. Waits up to `patienceMs` for sources that are starting. */
  inventory(patienceMs: number): Promise<CallableTools>;
  /** Whether the demo server is among the sources, or about to be. */
  readonly demo: boolean;
  /** The same of the pizzeria, a service that OpenAPI describes. */
  readonly pizzeria: boolean;
  /** Resolves when all tools are in the index for searches, which goes on after the start. */
  readonly indexed: Promise<void>;
  /** Resolves if the server cannot be reached any more and should be stopped. */
  readonly broken: Promise<Error>;
  close(): Promise<void>;
}

const renewKeysMs = 60_000;

/** Builds everything in data order and starts listening last. Settings that are left out have their defaults. */
export async function startServer(given: Partial<ServeConfig> & Pick<ServeConfig, 'dataDir'>): Promise<RunningServer> {
  const config: ServeConfig = { ...usualConfig, ...given };
  const logger = pino({ level: config.logLevel, base: null }, pino.destination({ fd: 2, sync: true }));
  // Before anything is opened: it may be what is wrong.
  const bound = config.issuers.length === 0 ? undefined : bindClaims(config.issuers, config);
  const embedder = config.embeddings === true ? await loadEmbedder() : undefined;
  const address = await chooseAddress(config);
  const metrics = createMetrics();
  /** Tokens are exchanged with the issuers that the door trusts, which are known once it is made. */
  const door: { verifier?: TokenVerifier; isOpen: boolean } = { isOpen: false };
  const crib = await openCrib({
    ...cribConfigOf(config, bound),
    publicUrl: address.publicUrl,
    ...(embedder === undefined ? {} : { embedder }),
    warn: (message) => logger.warn(message),
    issuerOf: (issuer) => door.verifier?.issuerOf(issuer),
    observer: {
      ...metrics,
      // A server that never served has nothing to report.
      auditHeadsRead: (heads) => door.isOpen && logger.info({ heads }, 'audit-head'),
    },
  });
  metrics.watch(crib);
  try {
    const running = await serve({ config, crib, metrics, logger, address, onVerifier: (verifier) => (door.verifier = verifier) });
    door.isOpen = true;
    return running;
  } catch (error) {
    await crib.close({ drainMs: 0 });
    throw error;
  }
}

interface ServeInput {
  config: ServeConfig;
  crib: Crib;
  metrics: Metrics;
  logger: Logger;
  address: Address;
  onVerifier(verifier: TokenVerifier): void;
}

async function serve({ config, crib, metrics, logger, address, onVerifier }: ServeInput): Promise<RunningServer> {
  const { baseUrl } = address;
  // Loaded only where it is wanted.
  const development =
    config.issuers.length === 0
      ? await (await import('../development/start-development.ts')).startDevelopment(config, crib, baseUrl)
      : undefined;
  const issuers = development === undefined ? config.issuers : [{ ...development.issuer.config, keySet: development.issuer.keySet }];
  const verifier = createTokenVerifier({
    fetchDocument: crib.egress.trusting(issuerOrigins(config.issuers)).fetchDocument,
    issuers,
    onFetchFailed: (error, issuer) =>
      logger.warn({ err: error, issuer }, "an issuer's keys could not be fetched: is its address right, and may this machine reach it?"),
  });
  onVerifier(verifier);
  if (development === undefined) await (await import('../development/end-development.ts')).endDevelopment(crib, logger);

  // Before listening: a server that could not apply its file would decide by other rules than those in the file.
  const { configFile } = config;
  const following =
    configFile === undefined
      ? undefined
      : await (await import('./follow-config-file.ts')).followConfigFile({ path: configFile, crib, metrics, logger });
  const door = await openDoor({ config, crib, verifier, issuers, address, metrics, logger, development });
  const { metricsUrl } = door;
  logger.info({ url: baseUrl, version, development: development !== undefined, ...(metricsUrl && { metrics: metricsUrl }) }, 'serving');
  // After listening, and regularly from then on: an issuer that is down does not prevent a start, and is known before the first caller comes.
  const keysSought = verifier.renewKeys();
  const renewing = setInterval(() => void verifier.renewKeys(), renewKeysMs).unref();
  // After listening: nobody waits for a demo.
  const demoPlaced = development
    ?.placeDemos()
    .catch((error: unknown) => logger.warn({ err: error }, 'the demo could not be brought along'));

  return {
    url: baseUrl,
    ...(metricsUrl === undefined ? {} : { metricsUrl }),
    dev: development !== undefined,
    ...(development === undefined ? {} : { mint: (username: string) => development.issuer.mint(username) }),
    async unreachableIssuers(patienceMs) {
      await Promise.race([keysSought, delay(patienceMs, undefined, { ref: false })]);
      return verifier.unreachable();
    },
    async inventory(patienceMs) {
      const until = Date.now() + patienceMs;
      await Promise.race([demoPlaced, delay(patienceMs, undefined, { ref: false })]);
      return callableTools(crib, until);
    },
    demo: development?.hasDemo ?? false,
    pizzeria: development?.hasPizzeria ?? false,
    indexed: crib.inventory.indexed(),
    broken: door.broken,
    async close() {
      clearInterval(renewing);
      const closing = door.shut();
      await demoPlaced;
      await following?.[Symbol.asyncDispose]();
      await crib.close({ drainMs: config.drainMs, answered: closing.answered });
      await closing.end();
      logger.info('stopped');
    },
  };
}

async function callableTools({ inventory, settled, statusOf }: Crib, until: number): Promise<CallableTools> {
  const { sources } = inventory;
  await Promise.all([...sources.keys()].map((id) => settled(id, Math.max(0, until - Date.now()))));
  const starting = [...sources.values()].filter((source) => ['starting', 'restarting'].includes(statusOf(source).state));
  return {
    tools: inventory.snapshot.tools.filter((tool) => tool.state === 'active').length,
    starting: starting.map(({ namespace }) => namespace),
  };
}

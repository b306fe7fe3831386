import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Client,
  PROTOCOL_VERSION_META_KEY,
  SdkError,
  SdkErrorCode,
  type PriorDiscovery,
} from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import type { JsonObject } from '../../../model/json.ts';
import { TimeoutError } from '../../../model/named-errors.ts';
import type { McpSession } from './mcp-session.ts';
import type { SourceInfo } from '../../open-source.ts';
import type { Redactor } from '../../../secrets/redactor.ts';
import { explainFailure } from './explain-failure.ts';
import { createConnection, type Connection } from './connection.ts';
import type { ListLimits } from './list-pages.ts';
import { isChildProcess, type McpTransport } from './mcp-transport.ts';
import { redactedSession } from './redacted-session.ts';
import { Session } from './session.ts';
import { EndedOnProbeError } from './session-errors.ts';
import type { Wire } from '../../upstream/logs/session-wire.ts';
import type { SkippedTool } from './tool-definition.ts';

/** The decorators of a session. Tracing is not among them, because a span belongs to one call: `pool/source-calls.ts` starts it. */
export interface SessionSurroundings {
  /** [OPS-1] Notes every message while somebody wants to see them. */
  wire?: Wire | undefined;
  /** [ENV-4] Removes secrets from everything the server says. */
  redactor?: Redactor | undefined;
  /** [ENV-1] Names the secrets it was opened with that have changed since. */
  changedSecrets?: McpSession['changedSecrets'];
}

export interface OpenSessionOptions extends SessionSurroundings {
  /** Not started yet. It is closed unless opening succeeds. */
  transport: McpTransport;
  startupTimeoutMs: number;
  signal: AbortSignal;
  /** The result of an earlier probe of the same server with the same credentials. Forget it when opening with it fails. */
  priorEra?: PriorDiscovery | undefined;
  clientInfo: ToldClient;
  /** For one page of a list. */
  requestTimeoutMs?: number;
  listLimits?: ListLimits;
  onSkipped?(skipped: SkippedTool[]): void;
  /** Called with oddities that end nothing: unexpected messages, streams that had to be opened again. */
  report?(error: unknown): void;
}

export interface OpenedSession {
  session: McpSession;
  /** [MCP-1] Remember it; undefined where the probe was inconclusive and must be repeated the next time. */
  era: PriorDiscovery | undefined;
}

/** What servers are told of us. */
export interface ToldClient {
  name: string;
  version: string;
  /** Whether clients may be behind us that offer what Toolcrib itself does not. */
  passesOn?: boolean | undefined;
}

/** We answer forms ourselves. */
const capabilities = { elicitation: { form: { applyDefaults: true } } };
/** [DOOR-5] Asked of a caller whose client does not offer it, each of them is refused. */
const ofClients = { ...capabilities, sampling: {}, roots: {} };
const defaultLimits: ListLimits = { maxPages: 1000, maxEntries: 10_000, maxBytes: 32 * 1024 * 1024 };
/** A child process that does not answer the probe is taken for an old one, but only after it had time to start. */
const maxProbeMs = 20_000;

export async function openSession(options: OpenSessionOptions): Promise<OpenedSession> {
  const { transport, startupTimeoutMs, priorEra } = options;
  const { passesOn = false, ...clientInfo } = options.clientInfo;
  const report = options.report ?? (() => undefined);
  const timeoutMs = Math.min(startupTimeoutMs / 2, maxProbeMs);
  const probe = isChildProcess(transport) ? { timeoutMs } : {};
  const client = new Client(clientInfo, { capabilities: passesOn ? ofClients : capabilities, versionNegotiation: { mode: 'auto', probe } });
  client.onerror = report;
  const connection = createConnection(transport, { wire: options.wire, report });
  const prior = priorEra ?? (transport.legacyOnly === true ? ({ kind: 'legacy' } as const) : undefined);
  await connect(client, connection, options, prior);

  const discover = client.getDiscoverResult();
  if (client.getProtocolEra() === 'modern') {
    connection.requests.envelope = {
      [PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion() ?? '',
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: capabilities as JsonObject,
    };
  }
  const conclusive = prior !== undefined || connection.probeAnswered || !isChildProcess(transport);
  const session = new Session({
    client,
    connection,
    info: infoOf(client),
    overHttp: !isChildProcess(transport),
    changedSecrets: options.changedSecrets,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    listLimits: options.listLimits ?? defaultLimits,
    onSkipped: options.onSkipped?.bind(options) ?? (() => undefined),
  });
  const era: PriorDiscovery = discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
  const { redactor } = options;
  return { session: redactor === undefined ? session : redactedSession(session, redactor), era: conclusive ? era : undefined };
}

async function connect(
  client: Client,
  connection: Connection,
  options: OpenSessionOptions,
  prior: PriorDiscovery | undefined,
): Promise<void> {
  const { transport, startupTimeoutMs, signal } = options;
  const deadline = AbortSignal.timeout(startupTimeoutMs);
  const stop = AbortSignal.any([signal, deadline]);
  const stopped = Promise.withResolvers<never>();
  const onStop = () => stopped.reject(stop.reason);
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    await Promise.race([stopped.promise, client.connect(connection, { timeout: startupTimeoutMs, ...(prior && { prior }) })]);
  } catch (error) {
    await transport.close().catch(() => undefined);
    if (signal.aborted) throw cancelled(signal);
    throw deadline.aborted ? handshakeTimeout(error) : openFailure(error, transport, prior === undefined && !connection.probeAnswered);
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

/** `probing` while the server has not answered which revision it speaks. */
function openFailure(error: unknown, transport: McpTransport, probing: boolean): CribError {
  const sdkCode = SdkError.isInstance(error) ? error.code : undefined;
  if (sdkCode === SdkErrorCode.RequestTimeout) return handshakeTimeout(error);
  const reason = transport.loss?.error;
  // A server that is slow to start may read the probe only after the SDK has stopped waiting for the answer.
  const endedLate = sdkCode === SdkErrorCode.ConnectionClosed && probing;
  if ((sdkCode === SdkErrorCode.EraNegotiationFailed || endedLate) && isChildProcess(transport)) {
    return new EndedOnProbeError(reason?.message ?? 'The server ended when it was asked which revision of the protocol it speaks', {
      summary: reason?.summary,
      lastWords: reason?.lastWords,
      cause: reason ?? error,
    });
  }
  return sdkCode === SdkErrorCode.ConnectionClosed && reason !== undefined ? reason : explainFailure(error);
}

function handshakeTimeout(cause: unknown): CribError {
  return new TimeoutError('Handshake timed out', { cause });
}

function cancelled(signal: AbortSignal): CribError {
  const reason: unknown = signal.reason;
  return reason instanceof CribError ? reason : new CribError('NETWORK_ERROR', 'Opening the session was cancelled', { cause: reason });
}

/** A server of the stateless revision need not give its name. */
function infoOf(client: Client): SourceInfo {
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  return {
    name: name.slice(0, 500),
    version: version.slice(0, 200),
    protocol_version: client.getNegotiatedProtocolVersion() ?? '',
    instructions: client.getInstructions()?.slice(0, 100_000) ?? null,
  };
}

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
import type { McpServerInfo, McpSession } from '../mcp-session.ts';
import { explainFailure } from './explain-failure.ts';
import { createIncoming, type Incoming } from './incoming.ts';
import type { ListLimits } from './list-pages.ts';
import { isChildProcess, type McpTransport } from './mcp-transport.ts';
import { Requests } from './requests.ts';
import { createSession } from './session.ts';
import { EndedOnProbeError } from './session-errors.ts';
import type { Wire } from '../session-wire.ts';
import type { SkippedTool } from './tool-definition.ts';
import { watchWire } from './watch-wire.ts';

export interface OpenSessionOptions {
  /** Not started yet. It is closed on every way out but success. */
  transport: McpTransport;
  startupTimeoutMs: number;
  signal: AbortSignal;
  /** What was found out before about the same server under the same credentials; to be forgotten when opening with it fails. */
  priorEra?: PriorDiscovery | undefined;
  clientInfo: { name: string; version: string };
  /** [OPS-1] Told of every message while somebody wants to see them. */
  wire?: Wire | undefined;
  /** For one page of a list. */
  requestTimeoutMs?: number;
  listLimits?: ListLimits;
  onSkipped?(skipped: SkippedTool[]): void;
  /** Told of what is odd but ends nothing: messages that nobody expects, streams that had to be opened anew. */
  report?(error: unknown): void;
}

export interface OpenedSession {
  session: McpSession;
  /** [MCP-1] To be remembered; undefined where the probe was inconclusive, and has to be made again the next time. */
  era: PriorDiscovery | undefined;
}

/** Forms can be answered; sampling and roots are not offered, so that a server that asks for them is refused. */
const capabilities = { elicitation: { form: { applyDefaults: true } } };
const defaultLimits: ListLimits = { maxPages: 1000, maxEntries: 10_000, maxBytes: 32 * 1024 * 1024 };
/** A child process that keeps silent about the probe is taken for an old one, but only after it had time to start. */
const maxProbeMs = 20_000;

export async function openSession(options: OpenSessionOptions): Promise<OpenedSession> {
  const { transport, startupTimeoutMs, clientInfo, priorEra } = options;
  const report = options.report ?? (() => undefined);
  const timeoutMs = Math.min(startupTimeoutMs / 2, maxProbeMs);
  const probe = isChildProcess(transport) ? { timeoutMs } : {};
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: 'auto', probe } });
  client.onerror = report;
  const requests = new Requests(transport);
  const incoming = createIncoming(transport, requests, report);
  transport.tap = incoming.tap;
  tellWhenProbeIsOver(transport, incoming);
  if (options.wire !== undefined) watchWire(transport, options.wire);
  const prior = priorEra ?? (transport.legacyOnly === true ? ({ kind: 'legacy' } as const) : undefined);
  await connect(client, options, { prior, probeAnswered: () => incoming.probeAnswered });

  const discover = client.getDiscoverResult();
  if (client.getProtocolEra() === 'modern') {
    requests.envelope = {
      [PROTOCOL_VERSION_META_KEY]: client.getNegotiatedProtocolVersion() ?? '',
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: capabilities as JsonObject,
    };
  }
  const conclusive = prior !== undefined || incoming.probeAnswered || !isChildProcess(transport);
  const session = createSession({
    client,
    transport,
    requests,
    incoming,
    info: infoOf(client),
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    listLimits: options.listLimits ?? defaultLimits,
    onSkipped: options.onSkipped?.bind(options) ?? (() => undefined),
  });
  const era: PriorDiscovery = discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover };
  return { session, era: conclusive ? era : undefined };
}

interface Negotiation {
  prior: PriorDiscovery | undefined;
  probeAnswered(): boolean;
}

async function connect(client: Client, options: OpenSessionOptions, negotiation: Negotiation): Promise<void> {
  const { transport, startupTimeoutMs, signal } = options;
  const { prior } = negotiation;
  const deadline = AbortSignal.timeout(startupTimeoutMs);
  const stop = AbortSignal.any([signal, deadline]);
  const stopped = Promise.withResolvers<never>();
  const onStop = () => stopped.reject(stop.reason);
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    await Promise.race([stopped.promise, client.connect(transport, { timeout: startupTimeoutMs, ...(prior && { prior }) })]);
  } catch (error) {
    await transport.close().catch(() => undefined);
    if (signal.aborted) throw cancelled(signal);
    throw deadline.aborted ? handshakeTimeout(error) : openFailure(error, transport, negotiation);
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

function openFailure(error: unknown, transport: McpTransport, { prior, probeAnswered }: Negotiation): CribError {
  const sdkCode = SdkError.isInstance(error) ? error.code : undefined;
  if (sdkCode === SdkErrorCode.RequestTimeout) return handshakeTimeout(error);
  const reason = transport.lossReason?.();
  // One that took its time to start may read the question only after the SDK has given up waiting for the answer.
  const endedLate = sdkCode === SdkErrorCode.ConnectionClosed && prior === undefined && !probeAnswered();
  if ((sdkCode === SdkErrorCode.EraNegotiationFailed || endedLate) && isChildProcess(transport)) {
    return new EndedOnProbeError(reason?.message ?? 'The server ended when it was asked which protocol it speaks', {
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

/** A handshake begins when nobody waits for the answer to the probe any more. */
function tellWhenProbeIsOver(transport: McpTransport, incoming: Incoming): void {
  const send = transport.send.bind(transport);
  transport.send = (message, sendOptions) => {
    if ('method' in message && message.method === 'initialize') incoming.probeIsOver = true;
    return send(message, sendOptions);
  };
}

/** A server of the stateless revision may keep its name to itself. */
function infoOf(client: Client): McpServerInfo {
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  return {
    name: name.slice(0, 500),
    version: version.slice(0, 200),
    protocol_version: client.getNegotiatedProtocolVersion() ?? '',
    instructions: client.getInstructions()?.slice(0, 100_000) ?? null,
  };
}

import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { CribError } from '../../model/crib-error.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { McpDefinition } from './mcp-definition.ts';
import type { Egress } from '../../net/egress.ts';
import type { ServerLog } from '../upstream/logs/server-log.ts';
import { openSession, type OpenedSession, type SessionSurroundings, type ToldClient } from './session/open-session.ts';
import { SessionLostError } from '../upstream/session-lost.ts';
import { createLegacySseTransport } from './transports/legacy-sse.ts';
import { createStreamableHttpTransport } from './transports/streamable-http.ts';
import type { HttpCredentials } from '../upstream/request-with-credentials.ts';

export interface RemoteSessionInput {
  source: DefinedSource<McpDefinition>;
  credentials: HttpCredentials;
  priorEra: PriorDiscovery | undefined;
  clientInfo: ToldClient;
  /** The decorators of the session. */
  surroundings?: SessionSurroundings;
  egress: Egress;
  log: ServerLog;
  signal: AbortSignal;
}

/** [LIFE-3] Nothing to spawn: credentials, then the handshake. */
export async function openRemoteSession(input: RemoteSessionInput): Promise<OpenedSession> {
  const { source, credentials, egress, log, signal, priorEra, clientInfo, surroundings } = input;
  const { definition } = source;
  const isLegacy = definition.transport_type === 'sse';
  const create = isLegacy ? createLegacySseTransport : createStreamableHttpTransport;
  const opened = openSession({
    transport: create({ egress, url: definition.server_url ?? '', allowInsecure: definition.allow_insecure, ...credentials }),
    startupTimeoutMs: definition.resilience.startupTimeoutMs,
    requestTimeoutMs: definition.resilience.requestTimeoutMs,
    signal,
    priorEra,
    clientInfo,
    ...surroundings,
    onSkipped: (skipped) => log.append('event', `Tools left out: ${skipped.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`),
    report: (error) => log.append('event', String(error)),
  });
  return opened.catch((error: unknown) => {
    throw isLegacy ? error : withTransportAdvice(error);
  });
}

/** [MCP-2] A server of the old HTTP+SSE transport answers a POST with 404 or 405; so does one at another path. */
function withTransportAdvice(error: unknown): unknown {
  if (!(error instanceof CribError) || error instanceof SessionLostError) return error;
  if (error.upstreamStatus !== 404 && error.upstreamStatus !== 405) return error;
  const { code, message, retryable, upstreamStatus } = error;
  const advice = 'Check its path; an old server needs the transport sse (`mcp_transport_type`, or `--transport sse` of `toolcrib add`)';
  return new CribError(code, `${message}. ${advice}`, { retryable, upstreamStatus, cause: error });
}

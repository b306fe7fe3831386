import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { McpSource } from '../../model/source.ts';
import type { Egress } from '../../net/egress.ts';
import type { ServerLog } from './process/server-log.ts';
import { openSession, type OpenedSession } from './session/open-session.ts';
import { createLegacySseTransport } from './transports/legacy-sse.ts';
import { createStreamableHttpTransport } from './transports/streamable-http.ts';
import type { HttpCredentials } from '../upstream/request-with-credentials.ts';
import type { Wire } from './session-wire.ts';

export interface RemoteSessionInput {
  source: McpSource;
  credentials: HttpCredentials;
  priorEra: PriorDiscovery | undefined;
  clientInfo: { name: string; version: string };
  wire?: Wire | undefined;
  egress: Egress;
  log: ServerLog;
  signal: AbortSignal;
}

/** [LIFE-3] Nothing to spawn: credentials, then the handshake. */
export async function openRemoteSession(input: RemoteSessionInput): Promise<OpenedSession> {
  const { source, credentials, egress, log, signal, priorEra, clientInfo, wire } = input;
  const { definition } = source;
  const create = definition.transport_type === 'sse' ? createLegacySseTransport : createStreamableHttpTransport;
  return openSession({
    transport: create({ egress, url: definition.server_url ?? '', allowInsecure: definition.allow_insecure, ...credentials }),
    startupTimeoutMs: definition.resilience.startupTimeoutMs,
    requestTimeoutMs: definition.resilience.requestTimeoutMs,
    signal,
    priorEra,
    clientInfo,
    wire,
    onSkipped: (skipped) => log.append('event', `Tools left out: ${skipped.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`),
    report: (error) => log.append('event', String(error)),
  });
}

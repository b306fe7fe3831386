import type { PriorDiscovery } from '@modelcontextprotocol/client';
import type { ClientCredentialTokens } from '../../identity/client-credentials.ts';
import type { McpDefinition } from '../../model/mcp-definition.ts';
import type { SourceRecord } from '../../model/source.ts';
import type { EnvironmentInput } from './environment.ts';
import type { ServerLog } from './process/server-log.ts';
import { remoteCredentials } from './remote-credentials.ts';
import { openSession, type OpenedSession } from './session/open-session.ts';
import { createLegacySseTransport } from './transports/legacy-sse.ts';
import { createStreamableHttpTransport } from './transports/streamable-http.ts';

export interface RemoteSessionInput {
  source: SourceRecord & { definition: McpDefinition };
  resolving: EnvironmentInput;
  tokens: ClientCredentialTokens;
  priorEra: PriorDiscovery | undefined;
  clientInfo: { name: string; version: string };
  log: ServerLog;
  signal: AbortSignal;
}

/** [LIFE-3] Nothing to spawn: credentials, then the handshake. */
export async function openRemoteSession(input: RemoteSessionInput): Promise<OpenedSession> {
  const { source, resolving, tokens, log, signal, priorEra, clientInfo } = input;
  const { definition } = source;
  const credentials = await remoteCredentials(definition, resolving, tokens);
  const create = definition.transport_type === 'sse' ? createLegacySseTransport : createStreamableHttpTransport;
  return openSession({
    transport: create({ url: definition.server_url ?? '', allowInsecure: definition.allow_insecure, ...credentials }),
    startupTimeoutMs: definition.resilience.startupTimeoutMs,
    requestTimeoutMs: definition.resilience.requestTimeoutMs,
    signal,
    priorEra,
    clientInfo,
    onSkipped: (skipped) => log.append('event', `Tools left out: ${skipped.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`),
    report: (error) => log.append('event', String(error)),
  });
}

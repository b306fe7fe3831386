import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { createClientCredentialTokens } from '../../identity/client-credentials.ts';
import type { ConnectionTokens } from '../../identity/oauth/connection-tokens.ts';
import { RecentMap } from '../../identity/recent-map.ts';
import { sourceOwner } from '../../model/connection.ts';
import { isPerUser } from '../../model/credential.ts';
import { CribError } from '../../model/crib-error.ts';
import { isRemote, type Credential, type McpDefinition } from '../../model/mcp-definition.ts';
import type { SourceRecord } from '../../model/source.ts';
import { createRedactor, type Redactor } from '../../secrets/redactor.ts';
import type { DockerEngine } from '../../net/docker/engine.ts';
import { callerToken } from './caller-token.ts';
import type { Containers } from './container/containers.ts';
import { resolveEnvironment, type EnvironmentInput } from './environment.ts';
import { fillInDefinition } from './fill-in-definition.ts';
import type { McpSession } from './mcp-session.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import { redactedLog } from './process/redacted-log.ts';
import type { ServerLog } from './process/server-log.ts';
import { redactedSession, redactError } from './redacted-session.ts';
import type { OpenedLocalSession } from './open-local-session.ts';
import type { Speakers } from './speakers.ts';
import type { Framing } from './transports/framing.ts';

export interface SessionOpenerInput {
  /** [ENV-1] With what the values of a source are filled in. */
  resolvingFor(sourceId: string): EnvironmentInput & { redactor: Redactor };
  registry: ProcessRegistry;
  /** With what the docker command finds the engine. */
  dockerEnvironment?: Readonly<Record<string, string>>;
  engine: DockerEngine;
  containers: Containers;
  clientInfo: { name: string; version: string };
  logOf(sourceId: string): ServerLog;
  /** [MCP-12] For sources to which every user speaks for themselves. */
  connections: ConnectionTokens;
  speakers: Speakers;
}

/** Without an owner it is the source's own session, with which its tools are found. */
export type SessionOpener = (source: SourceRecord, signal: AbortSignal, owner?: string) => Promise<McpSession>;

const maxRemembered = 2000;

/** [MCP-2] The one place that knows which transport a definition asks for. */
export function createSessionOpener(input: SessionOpenerInput): SessionOpener {
  /** [MCP-1] [MCP-3] Which revision a server speaks and how, found out once per definition, and by each user alone: it may not be the same for all. */
  const verdicts = new RecentMap<{ updatedAt: number; era: PriorDiscovery | undefined; framing: Framing | undefined }>(maxRemembered);
  const tokens = createClientCredentialTokens();

  return async (source, signal, owner) => {
    if (source.definition === null) throw new CribError('INTERNAL', 'This source has no server');
    const resolving = input.resolvingFor(source.id);
    const definition = await fillInDefinition(source.definition, resolving);
    const credential = credentialFor(source, definition, owner);
    // What only this session knows: the tokens of its user.
    const own = createRedactor();
    const speakAs =
      credential.type === 'oauth'
        ? { speaker: await input.speakers.of(source, owner ?? sourceOwner), tokens: input.connections, redactor: own }
        : undefined;
    const key = `${source.id}\n${owner ?? ''}`;
    const known = verdicts.get(key);
    const { era: priorEra, framing: priorFraming } =
      known?.updatedAt === source.updated_at ? known : { era: undefined, framing: undefined };
    const log = input.logOf(source.id);
    const common = { source: { ...source, definition }, priorEra, clientInfo: input.clientInfo, signal };
    const speaking = { definition, credential, resolving, tokens, speakAs };
    // Loaded with the first server: all that speaks MCP is a good part of the whole, and idle until then.
    async function open(): Promise<OpenedLocalSession> {
      if (isRemote(definition)) {
        const credentials = await (await import('./remote-credentials.ts')).remoteCredentials(speaking);
        return (await import('./open-remote-session.ts')).openRemoteSession({ ...common, log, credentials });
      }
      const token = await callerToken(speaking);
      const { environment } = await resolveEnvironment(definition, resolving);
      const env = { ...environment, ...token };
      const { dockerEnvironment = {} } = input;
      const processLog = speakAs === undefined ? log : redactedLog(log, own);
      if (definition.transport_type === 'sse') {
        const { openLocalSseSession } = await import('./open-local-sse-session.ts');
        return openLocalSseSession({ ...common, log: processLog, registry: input.registry, environment: env, dockerEnvironment });
      }
      const { launchServer } = await import('./launch-server.ts');
      const { registry, engine, containers } = input;
      const start = ({ later }: { later: boolean }) =>
        launchServer({ source, definition, env, dockerEnvironment, log: processLog, registry, engine, containers, signal, later });
      return (await import('./open-local-session.ts')).openLocalSession({ ...common, log: processLog, priorFraming, start });
    }
    try {
      const { session, era, framing } = await open();
      if (era !== undefined || framing !== undefined) verdicts.set(key, { updatedAt: source.updated_at, era, framing });
      const redacted = redactedSession(session, resolving.redactor);
      return speakAs === undefined ? redacted : redactedSession(redacted, own);
    } catch (error) {
      // What was remembered may be what made it fail.
      verdicts.delete(key);
      throw error instanceof CribError ? redactError(redactError(error, resolving.redactor), own) : error;
    }
  };
}

/** [INV-6] Nobody's credential is used for anybody else: tools are found with the one that is meant for it, or not at all. */
function credentialFor(source: SourceRecord, definition: McpDefinition, owner: string | undefined): Credential {
  const { credential, discovery_credential: discovery } = definition;
  if (owner !== undefined || !isPerUser(credential)) return credential;
  if (discovery === null) {
    const message = `Every user speaks to ${source.name} for themselves, so that nobody can ask for its tools: give it a discovery_credential`;
    throw new CribError('UNAUTHENTICATED', message, { retryable: false });
  }
  return discovery.type === 'oauth' ? credential : discovery;
}

import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { RecentMap } from '../../model/recent-map.ts';
import { isPerUser } from '../../model/credential.ts';
import { CribError } from '../../model/crib-error.ts';
import { isRemote, type McpDefinition } from './mcp-definition.ts';
import type { Credential } from '../../model/source-definition.ts';
import type { Principal } from '../../model/principal.ts';
import type { DefinedSource, SourceRecord } from '../../model/source.ts';
import { createRedactor, type Redactor } from '../../secrets/redactor.ts';
import { createUsedSecrets } from '../../secrets/used-secrets.ts';
import type { DockerEngine } from '../../net/docker/engine.ts';
import type { Egress } from '../../net/egress.ts';
import type { Containers } from './container/containers.ts';
import type { PrepareRun } from './container/prepare-run.ts';
import { environmentCredential } from './environment-credential.ts';
import { resolveEnvironment, type EnvironmentInput } from '../upstream/environment.ts';
import { fillInDefinition } from './fill-in-definition.ts';
import type { McpSession } from './session/mcp-session.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import { redactedLog } from '../upstream/logs/redacted-log.ts';
import type { ServerLog } from '../upstream/logs/server-log.ts';
import type { RunGate } from './run/run-gate.ts';
import { bothRedactors, redactError } from '../upstream/redacted.ts';
import { sessionWire } from '../upstream/logs/session-wire.ts';
import type { SessionSurroundings, ToldClient } from './session/open-session.ts';
import type { OpenedLocalSession } from './open-local-session.ts';
import { resolveCredential, type TokenSources } from '../upstream/resolve-credential.ts';
import type { Framing } from './transports/message-reader.ts';
import type { UpstreamCredential } from '../upstream/upstream-credential.ts';
import type { WireLog } from '../upstream/logs/wire-logs.ts';

export interface SessionOpenerInput extends TokenSources {
  /** [ENV-1] Resolves the variables and secrets of a source. */
  resolvingFor(sourceId: string): EnvironmentInput & { redactor: Redactor };
  registry: ProcessRegistry;
  /** [SEC-2] Checks everything that is started. */
  gate: Pick<RunGate, 'admit'>;
  /** Variables that let the docker command find the engine. */
  dockerEnvironment?: Readonly<Record<string, string>>;
  engine: DockerEngine;
  egress: Egress;
  containers: Containers;
  prepareRun: PrepareRun;
  clientInfo: ToldClient;
  logOf(sourceId: string): ServerLog;
  wireOf(sourceId: string): WireLog;
}

/** Without a caller it is the source's own session, which lists its tools. */
export type SessionOpener = (source: DefinedSource<McpDefinition>, signal: AbortSignal, principal?: Principal) => Promise<McpSession>;

const maxRemembered = 2000;
/** A server may still repeat an old token for a while. */
const tokensRemembered = 20;

/** [MCP-2] Opens a session over the transport that a definition asks for; nothing else knows about transports. */
export function createSessionOpener(input: SessionOpenerInput): SessionOpener {
  const { egress } = input;
  /** [MCP-1] [MCP-3] The revision and framing of a server, found once per definition and user: they may differ between users. */
  const verdicts = new RecentMap<{ updatedAt: number; era: PriorDiscovery | undefined; framing: Framing | undefined }>(maxRemembered);

  return async (source, signal, principal) => {
    const stored = input.resolvingFor(source.id);
    const used = createUsedSecrets(stored.secrets);
    const resolving = { ...stored, secrets: used };
    const definition = await fillInDefinition(source.definition, resolving);
    const chosen = credentialFor(source, definition, principal);
    // Only this session knows the tokens that it sends.
    const own = createRedactor({ most: tokensRemembered });
    const key = `${source.id}\n${principal?.key ?? ''}`;
    const known = verdicts.get(key);
    const { era: priorEra, framing: priorFraming } =
      known?.updatedAt === source.updated_at ? known : { era: undefined, framing: undefined };
    const log = input.logOf(source.id);
    const common = { source: { ...source, definition }, priorEra, clientInfo: input.clientInfo, signal };
    // Loaded with the first server: the code that speaks MCP is a large part of the whole, and not needed before.
    async function open(credential: UpstreamCredential, surroundings: SessionSurroundings): Promise<OpenedLocalSession> {
      if (isRemote(definition)) {
        const credentials = await (
          await import('../upstream/remote-credentials.ts')
        ).remoteCredentials({ definition, credential, resolving, redactor: own });
        return (await import('./open-remote-session.ts')).openRemoteSession({ ...common, surroundings, egress, log, credentials });
      }
      const token = await environmentCredential(definition.credential_env, credential, own);
      const { base, given } = await resolveEnvironment(definition, resolving);
      const environment = { base, given: { ...given, ...token } };
      const { dockerEnvironment = {} } = input;
      const processLog = credential.type === 'tokens' ? redactedLog(log, own) : log;
      if (definition.transport_type === 'sse') {
        const { openLocalSseSession } = await import('./open-local-sse-session.ts');
        return openLocalSseSession({
          ...common,
          surroundings,
          egress,
          log: processLog,
          registry: input.registry,
          launch: input.gate.admit(definition, environment),
          dockerEnvironment,
        });
      }
      const { launchServer } = await import('./launch-server.ts');
      const { registry, engine, containers, prepareRun } = input;
      const start = ({ later }: { later: boolean }) =>
        launchServer({
          source,
          definition,
          launch: input.gate.admit(definition, environment),
          dockerEnvironment,
          log: processLog,
          registry,
          engine,
          containers,
          prepareRun,
          signal,
          later,
        });
      return (await import('./open-local-session.ts')).openLocalSession({ ...common, surroundings, log: processLog, priorFraming, start });
    }
    try {
      const credential = await resolveCredential(chosen, { ...input, source, definition, resolving, principal });
      const { session, era, framing } = await open(credential, {
        wire: sessionWire(input.wireOf(source.id), own),
        redactor: credential.type === 'tokens' ? bothRedactors(resolving.redactor, own) : resolving.redactor,
        changedSecrets: used.changed,
      });
      if (era !== undefined || framing !== undefined) verdicts.set(key, { updatedAt: source.updated_at, era, framing });
      return session;
    } catch (error) {
      // The remembered revision or framing may have made it fail.
      verdicts.delete(key);
      throw error instanceof CribError ? redactError(redactError(error, resolving.redactor), own) : error;
    }
  };
}

/** [INV-6] A user's credential is never used for others: tools are listed with the discovery credential, or not at all. */
function credentialFor(source: SourceRecord, definition: McpDefinition, principal: Principal | undefined): Credential {
  const { credential, discovery_credential: discovery } = definition;
  if (principal !== undefined || !isPerUser(credential)) return credential;
  if (discovery === null) {
    const message = `Every user has their own credential for ${source.name}, so its tools cannot be listed without one: give it a discovery_credential`;
    throw new CribError('UNAUTHENTICATED', message, { retryable: false });
  }
  return discovery.type === 'oauth' ? credential : discovery;
}

import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { createClientCredentialTokens } from '../../identity/client-credentials.ts';
import { RecentMap } from '../../identity/recent-map.ts';
import { isPerUser } from '../../model/credential.ts';
import { CribError } from '../../model/crib-error.ts';
import { isRemote, type McpDefinition } from '../../model/mcp-definition.ts';
import type { Credential } from '../../model/source-definition.ts';
import type { Principal } from '../../model/principal.ts';
import type { SourceRecord } from '../../model/source.ts';
import { createRedactor, type Redactor } from '../../secrets/redactor.ts';
import { createUsedSecrets } from '../../secrets/used-secrets.ts';
import type { DockerEngine } from '../../net/docker/engine.ts';
import type { Egress } from '../../net/egress.ts';
import type { Containers } from './container/containers.ts';
import type { PrepareRun } from './container/prepare-run.ts';
import { environmentCredential } from './environment-credential.ts';
import { resolveEnvironment, type EnvironmentInput } from '../upstream/environment.ts';
import { fillInDefinition } from './fill-in-definition.ts';
import type { McpSession } from './mcp-session.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import { redactedLog } from './process/redacted-log.ts';
import type { ServerLog } from './process/server-log.ts';
import type { RunGate } from './run/run-gate.ts';
import { redactedSession } from './redacted-session.ts';
import { bothRedactors, redactError } from '../upstream/redacted.ts';
import { sessionWire } from './session-wire.ts';
import type { OpenedLocalSession } from './open-local-session.ts';
import { resolveCredential, type TokenSources } from '../upstream/resolve-credential.ts';
import type { Framing } from './transports/framing.ts';
import type { UpstreamCredential } from '../upstream/upstream-credential.ts';
import type { WireLog } from './wire-logs.ts';

export interface SessionOpenerInput extends Omit<TokenSources, 'clients'> {
  /** [ENV-1] With what the values of a source are filled in. */
  resolvingFor(sourceId: string): EnvironmentInput & { redactor: Redactor };
  registry: ProcessRegistry;
  /** [SEC-2] Asked before anything is started. */
  gate: Pick<RunGate, 'admit'>;
  /** With what the docker command finds the engine. */
  dockerEnvironment?: Readonly<Record<string, string>>;
  engine: DockerEngine;
  egress: Egress;
  containers: Containers;
  prepareRun: PrepareRun;
  clientInfo: { name: string; version: string };
  logOf(sourceId: string): ServerLog;
  wireOf(sourceId: string): WireLog;
}

/** Without a caller it is the source's own session, with which its tools are found. */
export type SessionOpener = (source: SourceRecord, signal: AbortSignal, principal?: Principal) => Promise<McpSession>;

const maxRemembered = 2000;
/** A server may repeat a token for a while after it was given another. */
const tokensRemembered = 20;

/** [MCP-2] The one place that knows which transport a definition asks for. */
export function createSessionOpener(input: SessionOpenerInput): SessionOpener {
  const { egress } = input;
  /** [MCP-1] [MCP-3] Which revision a server speaks and how, found out once per definition, and by each user alone: it may not be the same for all. */
  const verdicts = new RecentMap<{ updatedAt: number; era: PriorDiscovery | undefined; framing: Framing | undefined }>(maxRemembered);
  const tokenSources = { ...input, clients: createClientCredentialTokens({ egress }) };

  return async (source, signal, principal) => {
    if (source.source_type !== 'mcp') throw new CribError('INTERNAL', 'This source is no MCP server');
    const stored = input.resolvingFor(source.id);
    const used = createUsedSecrets(stored.secrets);
    const resolving = { ...stored, secrets: used };
    const definition = await fillInDefinition(source.definition, resolving);
    const chosen = credentialFor(source, definition, principal);
    // What only this session knows: the tokens that it sends.
    const own = createRedactor({ most: tokensRemembered });
    const key = `${source.id}\n${principal?.key ?? ''}`;
    const known = verdicts.get(key);
    const { era: priorEra, framing: priorFraming } =
      known?.updatedAt === source.updated_at ? known : { era: undefined, framing: undefined };
    const log = input.logOf(source.id);
    const wire = sessionWire(input.wireOf(source.id), own);
    const common = { source: { ...source, definition }, priorEra, clientInfo: input.clientInfo, wire, signal };
    // Loaded with the first server: all that speaks MCP is a good part of the whole, and idle until then.
    async function open(credential: UpstreamCredential): Promise<OpenedLocalSession> {
      if (isRemote(definition)) {
        const credentials = await (
          await import('../upstream/remote-credentials.ts')
        ).remoteCredentials({ definition, credential, resolving, redactor: own });
        return (await import('./open-remote-session.ts')).openRemoteSession({ ...common, egress, log, credentials });
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
      return (await import('./open-local-session.ts')).openLocalSession({ ...common, log: processLog, priorFraming, start });
    }
    try {
      const credential = await resolveCredential(chosen, { ...tokenSources, source, definition, resolving, principal });
      const { session, era, framing } = await open(credential);
      if (era !== undefined || framing !== undefined) verdicts.set(key, { updatedAt: source.updated_at, era, framing });
      const redactor = credential.type === 'tokens' ? bothRedactors(resolving.redactor, own) : resolving.redactor;
      return Object.assign(redactedSession(session, redactor), { changedSecrets: used.changed });
    } catch (error) {
      // What was remembered may be what made it fail.
      verdicts.delete(key);
      throw error instanceof CribError ? redactError(redactError(error, resolving.redactor), own) : error;
    }
  };
}

/** [INV-6] Nobody's credential is used for anybody else: tools are found with the one that is meant for it, or not at all. */
function credentialFor(source: SourceRecord, definition: McpDefinition, principal: Principal | undefined): Credential {
  const { credential, discovery_credential: discovery } = definition;
  if (principal !== undefined || !isPerUser(credential)) return credential;
  if (discovery === null) {
    const message = `Every user speaks to ${source.name} for themselves, so that nobody can ask for its tools: give it a discovery_credential`;
    throw new CribError('UNAUTHENTICATED', message, { retryable: false });
  }
  return discovery.type === 'oauth' ? credential : discovery;
}

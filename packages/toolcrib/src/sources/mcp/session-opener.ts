import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { createClientCredentialTokens } from '../../identity/client-credentials.ts';
import { CribError } from '../../model/crib-error.ts';
import { isRemote, type McpDefinition } from '../../model/mcp-definition.ts';
import type { SourceRecord } from '../../model/source.ts';
import type { SourceRedactors } from '../../secrets/redactor.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import { createSourceFillIn, resolveEnvironment, type EnvironmentInput } from './environment.ts';
import type { McpSession } from './mcp-session.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import type { ServerLog } from './process/server-log.ts';
import { redactedSession, redactError } from './redacted-session.ts';
import type { OpenedLocalSession } from './open-local-session.ts';
import type { Framing } from './transports/framing.ts';

export interface SessionOpenerInput {
  secrets: Pick<SecretStore, 'get'>;
  redactors: SourceRedactors;
  registry: ProcessRegistry;
  /** [ENV-2] Environment variables of ours that sources may name. */
  allowedNames: ReadonlySet<string>;
  clientInfo: { name: string; version: string };
  logOf(sourceId: string): ServerLog;
}

export type SessionOpener = (source: SourceRecord, signal: AbortSignal) => Promise<McpSession>;

/** [MCP-2] The one place that knows which transport a definition asks for. */
export function createSessionOpener(input: SessionOpenerInput): SessionOpener {
  /** [MCP-1] [MCP-3] Which revision a server speaks and how, found out once per definition. */
  const verdicts = new Map<string, { updatedAt: number; era: PriorDiscovery | undefined; framing: Framing | undefined }>();
  const tokens = createClientCredentialTokens();

  return async (source, signal) => {
    if (source.definition === null) throw new CribError('INTERNAL', 'This source has no server');
    const redactor = input.redactors.forSource(source.id);
    const resolving: EnvironmentInput = {
      secrets: input.secrets,
      sourceId: source.id,
      allowedNames: input.allowedNames,
      baseEnvironment: process.env,
      redactor,
    };
    const definition = await filledIn(source.definition, resolving);
    const known = verdicts.get(source.id);
    const { era: priorEra, framing: priorFraming } =
      known?.updatedAt === source.updated_at ? known : { era: undefined, framing: undefined };
    const common = { source: { ...source, definition }, priorEra, clientInfo: input.clientInfo, log: input.logOf(source.id), signal };
    // Loaded with the first server: all that speaks MCP is a good part of the whole, and idle until then.
    async function open(): Promise<OpenedLocalSession> {
      if (isRemote(definition)) return (await import('./open-remote-session.ts')).openRemoteSession({ ...common, resolving, tokens });
      const { environment } = await resolveEnvironment(definition, resolving);
      const local = { ...common, priorFraming, registry: input.registry, environment };
      return definition.transport_type === 'sse'
        ? (await import('./open-local-sse-session.ts')).openLocalSseSession(local)
        : (await import('./open-local-session.ts')).openLocalSession(local);
    }
    try {
      const { session, era, framing } = await open();
      if (era !== undefined || framing !== undefined) verdicts.set(source.id, { updatedAt: source.updated_at, era, framing });
      return redactedSession(session, redactor);
    } catch (error) {
      // What was remembered may be what made it fail.
      verdicts.delete(source.id);
      throw error instanceof CribError ? redactError(error, redactor) : error;
    }
  };
}

/** [ENV-2] `${NAME}` in the command and the address, where a registration has put a reference in place of a secret. */
async function filledIn(definition: McpDefinition, resolving: EnvironmentInput): Promise<McpDefinition> {
  const fillIn = createSourceFillIn(definition, resolving);
  // The port of a local server over HTTP is only known when it is started.
  const fill = async (text: string, field: string) => (text.includes('${PORT}') ? text : fillIn.text(text, field));
  const command = await Promise.all(definition.command.map((part, index) => fill(part, `command.${index}`)));
  const server_url = definition.server_url === null ? null : await fillIn.text(definition.server_url, 'server_url');
  return { ...definition, command, server_url };
}

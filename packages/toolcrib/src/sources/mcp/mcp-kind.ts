import type { DefinedSource } from '../../model/source.ts';
import type { SourcePorts } from '../source-ports.ts';
import type { SourceKind, Trial } from '../source-type.ts';
import { sessionKeyOf } from '../upstream/session-key.ts';
import { openLocalRunning } from './local-running.ts';
import { isRemote, type McpDefinition } from './mcp-definition.ts';
import { McpSource } from './mcp-source.ts';
import type { McpRegistrationContext } from './registration/mcp-registration-context.ts';
import { createRegistryLookup, publicRegistries } from './registry/registry-lookup.ts';
import { createSessionOpener } from './session-opener.ts';

/** MCP servers: started on this machine, inside containers, or remote. */
export async function openMcpKind(ports: SourcePorts, opened: AsyncDisposableStack): Promise<SourceKind<McpDefinition>> {
  const { settings, egress, tokens } = ports;
  const { version, passesOn, allowedMounts = [], refreshPauses } = settings;
  const running = await openLocalRunning(settings, opened);
  const { containers, images, prepareRun, gate } = running;
  const opening = { ...running, ...tokens, egress, clientInfo: { name: 'toolcrib', version, passesOn } };
  const openSession = createSessionOpener({
    ...opening,
    resolvingFor: ports.valuesOf,
    logOf: ports.logOf,
    wireOf: ports.wireLogOf,
  });
  const lookUp = createRegistryLookup({ egress, secrets: ports.secrets, registries: { ...publicRegistries, ...settings.registries } });

  /** [LIFE-3] As a transient source is started: spawn, handshake, list, end. */
  async function preview(source: DefinedSource<McpDefinition>, { values, turn, over, log, wireLog }: Trial) {
    const { register_resources_as_tools: resources } = source.definition;
    const openOnce = createSessionOpener({ ...opening, resolvingFor: () => values, logOf: () => log, wireOf: () => wireLog });
    // Opening a session has a timeout of its own.
    const session = await openOnce(source, turn.signal);
    try {
      const tools = await session.listTools({ signal: over, resources });
      return { tools, info: session.info, imported: null, error: null };
    } finally {
      await session.close();
    }
  }

  return {
    registrationContext: { lookUp, allowedMounts } satisfies Partial<McpRegistrationContext>,
    checkRun(definition) {
      if (!isRemote(definition)) gate.check(definition);
    },
    async checkSaved({ container }) {
      if (container !== null) await containers.check(container);
    },
    open(source, host) {
      const server = source as DefinedSource<McpDefinition>;
      const { id, definition } = server;
      return new McpSource({
        definition,
        host,
        open: (signal, principal) => openSession(server, signal, principal),
        sessionKeyOf: (principal) => sessionKeyOf({ source: server, principal, ...tokens }),
        async release() {
          prepareRun.forget(id);
          await containers.release(id);
        },
        saidSince: (time) => ports.logOf(id).lastWordsSince(time),
        pulling: () => images.pullingOf(id),
        refreshPauses,
      });
    },
    preview,
    // If Docker is away, the next start removes the source's containers.
    release: (sourceId) => containers.release(sourceId).catch(() => undefined),
  };
}

import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { CribError } from '../../model/crib-error.ts';
import type { SourceRecord } from '../../model/source.ts';
import type { McpDefinition } from '../../model/mcp-definition.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import type { ServerLog } from './process/server-log.ts';
import { startServerProcess, type ServerProcess } from './process/server-process.ts';
import { startupFailure } from './process/startup-failure.ts';
import { openSession, type OpenedSession } from './session/open-session.ts';
import { EndedOnProbeError } from './session/session-errors.ts';
import { createStdioTransport } from './transports/stdio.ts';

export interface LocalSessionInput {
  source: SourceRecord & { definition: McpDefinition };
  environment: Record<string, string>;
  priorEra: PriorDiscovery | undefined;
  clientInfo: { name: string; version: string };
  log: ServerLog;
  registry: ProcessRegistry;
  signal: AbortSignal;
}

/** [LIFE-3] Spawns the server and shakes hands with it over its standard input and output. */
export async function openLocalSession(input: LocalSessionInput): Promise<OpenedSession> {
  try {
    return await openOnce(input, { priorEra: input.priorEra, later: false });
  } catch (error) {
    if (!(error instanceof EndedOnProbeError)) throw error;
    // Servers of the first revisions end on any question before the handshake. Only if that fails too is the server itself broken.
    return openOnce(input, { priorEra: { kind: 'legacy' }, later: true });
  }
}

interface Attempt {
  priorEra: PriorDiscovery | undefined;
  later: boolean;
}

async function openOnce(input: LocalSessionInput, { priorEra, later }: Attempt): Promise<OpenedSession> {
  const { source, environment, clientInfo, log, registry, signal } = input;
  const { command, cwd, plugin_dir, resilience } = source.definition;
  signal.throwIfAborted();
  const process = await startServerProcess({ command, cwd: cwd ?? plugin_dir, env: environment, log, registry, later });
  try {
    return await openSession({
      transport: createStdioTransport({ process }),
      startupTimeoutMs: resilience.startupTimeoutMs,
      requestTimeoutMs: resilience.requestTimeoutMs,
      signal,
      priorEra,
      clientInfo,
      onSkipped: (skipped) => log.append('event', `Tools left out: ${skipped.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`),
      report: (error) => log.append('event', String(error)),
    });
  } catch (error) {
    await process.stop();
    if (signal.aborted || error instanceof EndedOnProbeError) throw error;
    throw await explain(process, error);
  }
}

/** What the process said before it died explains more than the conversation that was cut off by it. */
async function explain(process: ServerProcess, error: unknown): Promise<CribError> {
  const exit = await process.exited;
  const failure = startupFailure({ exit, lastWords: process.lastWords(20) });
  if (failure.code === 'NOT_FOUND' || !(error instanceof CribError)) return failure;
  // It was we who ended it, because it did not answer or answered nonsense.
  const endedByItself = exit.signal === null && exit.code !== 0;
  return endedByItself && error.code !== 'NETWORK_ERROR' ? failure : error;
}

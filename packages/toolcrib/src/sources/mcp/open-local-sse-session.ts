import { setTimeout as delay } from 'node:timers/promises';
import { TimeoutError } from '../../model/named-errors.ts';
import type { Egress } from '../../net/egress.ts';
import { freePort } from '../../net/free-port.ts';
import { UnreachableError } from '../../net/request-failure.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { McpDefinition } from './mcp-definition.ts';
import { wordsInErrors } from './process/process-exit.ts';
import { startLocalProcess } from './process/local-process.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import type { ServerLog } from '../upstream/logs/server-log.ts';
import type { ServerProcess } from './process/server-process.ts';
import type { AdmittedLaunch } from './run/run-gate.ts';
import { startupFailure, startupTimeout } from './process/startup-failure.ts';
import { openSession, type OpenedSession, type SessionSurroundings, type ToldClient } from './session/open-session.ts';
import { processLoss, type SessionLoss } from './session/session-loss.ts';
import { createLegacySseTransport } from './transports/legacy-sse.ts';

export interface LocalSseSessionInput {
  source: DefinedSource<McpDefinition>;
  /** The command and its limits, as the run gate has admitted them. */
  launch: AdmittedLaunch;
  dockerEnvironment: Readonly<Record<string, string>>;
  clientInfo: ToldClient;
  /** The decorators of the session. */
  surroundings?: SessionSurroundings;
  egress: Egress;
  log: ServerLog;
  registry: ProcessRegistry;
  signal: AbortSignal;
}

const retryMs = 100;
const waitForExitMs = 250;

/**
 * [MCP-2] A local server that speaks HTTP with server-sent events. It gets its port in the variable `PORT` or as `${PORT}` in its
 * arguments, and `/sse` is tried until the server listens.
 */
export async function openLocalSseSession(input: LocalSseSessionInput): Promise<OpenedSession> {
  const { source, launch, log, registry, signal } = input;
  const { resilience } = source.definition;
  const port = String(await freePort('127.0.0.1'));
  const process = await startLocalProcess({
    ...launch,
    sourceId: source.id,
    dockerEnvironment: input.dockerEnvironment,
    command: launch.command.map((part) => part.replaceAll('${PORT}', port)),
    env: { ...launch.env, PORT: port },
    log,
    registry,
  });
  const deadline = performance.now() + resilience.startupTimeoutMs;
  let exited = false;
  void process.exited.then(() => {
    exited = true;
  });
  try {
    for (;;) {
      try {
        return await open(input, process, `http://127.0.0.1:${port}/sse`, deadline - performance.now());
      } catch (error) {
        signal.throwIfAborted();
        if (exited) throw startupFailure({ exit: await process.exited, lastWords: process.lastWords(wordsInErrors) });
        // Until it listens, the connection is refused.
        const refused = error instanceof UnreachableError;
        if (refused && performance.now() < deadline) await delay(retryMs);
        else throw refused || error instanceof TimeoutError ? startupTimeout(source.definition, process.lastWords(wordsInErrors)) : error;
      }
    }
  } catch (error) {
    await process.stop();
    throw error;
  }
}

async function open(input: LocalSseSessionInput, process: ServerProcess, url: string, timeoutMs: number): Promise<OpenedSession> {
  // The server is ours, so its address is allowed even where other addresses of this machine are not.
  const egress = input.egress.trusting([url]);
  let opened = false;
  const transport = createLegacySseTransport({
    egress,
    url,
    processLoss: () => lossOf(process),
    // The process was started for this session and ends with it; while none is open, another attempt may need it.
    afterClose: async () => (opened ? process.stop() : undefined),
  });
  const session = await openSession({
    transport,
    startupTimeoutMs: Math.max(1, Math.ceil(timeoutMs)),
    requestTimeoutMs: input.source.definition.resilience.requestTimeoutMs,
    signal: input.signal,
    clientInfo: input.clientInfo,
    ...input.surroundings,
  });
  opened = true;
  return session;
}

/** [ERR-5] When the stream ends, the process has usually died, and how it died says more. */
async function lossOf(process: ServerProcess): Promise<SessionLoss | undefined> {
  const exit = await Promise.race([process.exited, delay(waitForExitMs, undefined, { ref: false })]);
  return exit === undefined ? undefined : processLoss(exit, process.lastWords(wordsInErrors));
}

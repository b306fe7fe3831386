import { setTimeout as delay } from 'node:timers/promises';
import type { CribError } from '../../model/crib-error.ts';
import { TimeoutError } from '../../model/named-errors.ts';
import type { Egress } from '../../net/egress.ts';
import { freePort } from '../../net/free-port.ts';
import { UnreachableError } from '../../net/request-failure.ts';
import type { McpSource } from '../../model/source.ts';
import { crashError, wordsInErrors } from './process/process-exit.ts';
import { startLocalProcess } from './process/local-process.ts';
import type { ProcessRegistry } from './process/process-registry.ts';
import type { ServerLog } from './process/server-log.ts';
import type { ServerProcess } from './process/server-process.ts';
import type { AdmittedLaunch } from './run/run-gate.ts';
import { startupFailure, startupTimeout } from './process/startup-failure.ts';
import { openSession, type OpenedSession } from './session/open-session.ts';
import { createLegacySseTransport } from './transports/legacy-sse.ts';
import type { Wire } from './session-wire.ts';

export interface LocalSseSessionInput {
  source: McpSource;
  /** What may be started. */
  launch: AdmittedLaunch;
  dockerEnvironment: Readonly<Record<string, string>>;
  clientInfo: { name: string; version: string };
  wire?: Wire | undefined;
  egress: Egress;
  log: ServerLog;
  registry: ProcessRegistry;
  signal: AbortSignal;
}

const retryMs = 100;
const waitForExitMs = 250;

/**
 * [MCP-2] A local server that speaks HTTP with server-sent events. It learns its port from the variable `PORT` or from `${PORT}` in its
 * arguments, and is asked at `/sse` until it listens.
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
  // What we have started ourselves is ours, whatever else may be asked on this machine.
  const egress = input.egress.trusting([url]);
  const transport = createLegacySseTransport({ egress, url, explainLoss: (reason) => explainLoss(process, reason) });
  const opened = await openSession({
    transport,
    startupTimeoutMs: Math.max(1, Math.ceil(timeoutMs)),
    requestTimeoutMs: input.source.definition.resilience.requestTimeoutMs,
    signal: input.signal,
    clientInfo: input.clientInfo,
    wire: input.wire,
  });
  // The process was started for this conversation and ends with it.
  const closeTransport = transport.close.bind(transport);
  transport.close = async () => {
    await closeTransport();
    await process.stop();
  };
  return opened;
}

/** [ERR-5] When the stream ends, the process has usually died, and how it died says more. */
async function explainLoss(process: ServerProcess, reason: CribError): Promise<CribError> {
  const exit = await Promise.race([process.exited, delay(waitForExitMs, undefined, { ref: false })]);
  return exit === undefined ? reason : crashError(exit, process.lastWords(wordsInErrors));
}

import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { CribError } from '../../model/crib-error.ts';
import type { McpSource } from '../../model/source.ts';
import { TimeoutError } from '../../model/named-errors.ts';
import { endedForItsOwnReason } from './process/early-exit.ts';
import { isStillFetching, packageLauncher } from './process/package-launcher.ts';
import { wordsInErrors } from './process/process-exit.ts';
import type { ServerLog } from './process/server-log.ts';
import type { ServerProcess } from './process/server-process.ts';
import { startupFailure, startupTimeout } from './process/startup-failure.ts';
import { openSession, type OpenedSession } from './session/open-session.ts';
import { EndedOnProbeError, SilentServerError } from './session/session-errors.ts';
import type { Framing } from './transports/framing.ts';
import { createStdioTransport } from './transports/stdio.ts';
import type { Wire } from './session-wire.ts';

export interface LocalSessionInput {
  source: McpSource;
  /** Starts the server, on this machine or in a container. `later` lets the first starts of others go before it. */
  start(options: { later: boolean }): Promise<ServerProcess>;
  priorEra: PriorDiscovery | undefined;
  /** In which framing the server was found to listen; lines where nothing is known. */
  priorFraming?: Framing | undefined;
  clientInfo: { name: string; version: string };
  wire?: Wire | undefined;
  log: ServerLog;
  signal: AbortSignal;
}

/** The framing is only told where it is not the usual one. */
export type OpenedLocalSession = OpenedSession & { framing?: Framing };

/**
 * What is left of the start-up time for the other framing. Servers that listen for nothing but headers are rare, and servers that are slow to
 * start, because a package is still being fetched, are not: those keep most of the time.
 */
const mostForOtherFramingMs = 10_000;

/** [LIFE-3] Starts the server and shakes hands with it over its standard input and output. */
export async function openLocalSession(input: LocalSessionInput): Promise<OpenedLocalSession> {
  const { startupTimeoutMs } = input.source.definition.resilience;
  if (input.priorFraming === 'content-length') return openInHeaders(input, startupTimeoutMs);
  const otherFramingMs = Math.min(startupTimeoutMs / 3, mostForOtherFramingMs);
  try {
    return await openAsEitherEra(input, { framing: 'lines', timeoutMs: startupTimeoutMs, silenceMs: startupTimeoutMs - otherFramingMs });
  } catch (error) {
    if (!(error instanceof SilentServerError)) throw error;
    input.log.append('event', 'It has not written a byte: perhaps it waits for Content-Length headers. Trying once more with those.');
    return await openInHeaders(input, otherFramingMs).catch((second: unknown) => {
      // What it makes of a framing that is not its own says nothing; the silence before does.
      throw input.signal.aborted ? second : error;
    });
  }
}

async function openInHeaders(input: LocalSessionInput, timeoutMs: number): Promise<OpenedLocalSession> {
  const framing = 'content-length';
  return { ...(await openAsEitherEra(input, { framing, timeoutMs })), framing };
}

interface Attempt {
  framing: Framing;
  timeoutMs: number;
  /** For how long it may write nothing at all. */
  silenceMs?: number;
}

interface Era {
  priorEra: PriorDiscovery | undefined;
  /** A second attempt comes after everybody's first. */
  later: boolean;
}

async function openAsEitherEra(input: LocalSessionInput, attempt: Attempt): Promise<OpenedSession> {
  try {
    return await openOnce(input, { ...attempt, priorEra: input.priorEra, later: false });
  } catch (error) {
    if (!(error instanceof EndedOnProbeError)) throw error;
    // Servers of the first revisions end on any question before the handshake. Only if that fails too is the server itself broken.
    input.log.append('event', 'It ended when it was asked which revision it speaks, as old servers do. Starting it again as one of those.');
    return openOnce(input, { ...attempt, priorEra: { kind: 'legacy' }, later: true });
  }
}

async function openOnce(input: LocalSessionInput, attempt: Attempt & Era): Promise<OpenedSession> {
  const { clientInfo, wire, log, signal } = input;
  const { resilience } = input.source.definition;
  const { priorEra, later } = attempt;
  signal.throwIfAborted();
  const process = await input.start({ later });
  const transport = createStdioTransport({ process, framing: attempt.framing });
  const silence = new AbortController();
  const giveUp = () => transport.heard || isFetching(input, process) || silence.abort();
  const timer = attempt.silenceMs === undefined ? undefined : setTimeout(giveUp, attempt.silenceMs);
  try {
    return await openSession({
      transport,
      startupTimeoutMs: attempt.timeoutMs,
      requestTimeoutMs: resilience.requestTimeoutMs,
      signal: AbortSignal.any([signal, silence.signal]),
      priorEra,
      clientInfo,
      wire,
      onSkipped: (skipped) => log.append('event', `Tools left out: ${skipped.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`),
      // How it ended is told by whoever loses it.
      report: (error) => void (error === transport.lossReason?.() || log.append('event', String(error))),
    });
  } catch (error) {
    await process.stop();
    if (signal.aborted) throw error;
    if (silence.signal.aborted) {
      const { message, details } = startupTimeout(input.source.definition, process.lastWords(wordsInErrors));
      throw new SilentServerError(message, { details });
    }
    throw await explain(input.source, process, error);
  } finally {
    clearTimeout(timer);
  }
}

/** [MCP-3] A launcher that is still fetching the package is not to be ended for its silence. Nobody sees from here what goes on in a container. */
function isFetching({ source }: LocalSessionInput, { pid }: ServerProcess): boolean {
  const { command, container } = source.definition;
  return packageLauncher(command) !== undefined && (container !== null || isStillFetching(pid));
}

/** What the process said before it died explains more than the conversation that was cut off by it. */
async function explain({ definition }: McpSource, process: ServerProcess, error: unknown): Promise<CribError> {
  const exit = await process.exited;
  const lastWords = process.lastWords(wordsInErrors);
  const failure = startupFailure({ exit, lastWords, definition });
  // More is known than how the conversation broke off.
  if (failure.code === 'NOT_FOUND' || exit.reason !== undefined || !(error instanceof CribError)) return failure;
  if (error instanceof EndedOnProbeError) return endedForItsOwnReason(lastWords) ? failure : error;
  // It was we who ended it, because it did not answer or answered nonsense.
  if (error instanceof TimeoutError) return startupTimeout(definition, lastWords);
  const endedByItself = exit.signal === null && exit.code !== 0;
  return endedByItself && error.code !== 'NETWORK_ERROR' ? failure : error;
}

import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { CribError } from '../../model/crib-error.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { McpDefinition } from './mcp-definition.ts';
import { TimeoutError } from '../../model/named-errors.ts';
import { endedForItsOwnReason } from './process/early-exit.ts';
import { isStillFetching, packageLauncher } from './process/package-launcher.ts';
import { wordsInErrors } from './process/process-exit.ts';
import type { ServerLog } from '../upstream/logs/server-log.ts';
import type { ServerProcess } from './process/server-process.ts';
import { startupFailure, startupTimeout } from './process/startup-failure.ts';
import { openSession, type OpenedSession, type SessionSurroundings, type ToldClient } from './session/open-session.ts';
import { EndedOnProbeError, SilentServerError } from './session/session-errors.ts';
import type { Framing } from './transports/message-reader.ts';
import { createStdioTransport } from './transports/stdio.ts';

export interface LocalSessionInput {
  source: DefinedSource<McpDefinition>;
  /** Starts the server, on this machine or in a container. `later` lets the first starts of other servers go first. */
  start(options: { later: boolean }): Promise<ServerProcess>;
  priorEra: PriorDiscovery | undefined;
  /** The framing that the server was found to use; lines by default. */
  priorFraming?: Framing | undefined;
  clientInfo: ToldClient;
  /** The decorators of the session. */
  surroundings?: SessionSurroundings;
  log: ServerLog;
  signal: AbortSignal;
}

/** `framing` is set if it is not the default. */
export type OpenedLocalSession = OpenedSession & { framing?: Framing };

/**
 * The part of the start-up timeout that is kept for the other framing. Few servers read only headers; many are slow to start, because a
 * package is still being fetched, and those get most of the time.
 */
const mostForOtherFramingMs = 10_000;

/** [LIFE-3] Starts the server and performs the handshake over its standard input and output. */
export async function openLocalSession(input: LocalSessionInput): Promise<OpenedLocalSession> {
  const { startupTimeoutMs } = input.source.definition.resilience;
  if (input.priorFraming === 'content-length') return openInHeaders(input, startupTimeoutMs);
  const otherFramingMs = Math.min(startupTimeoutMs / 3, mostForOtherFramingMs);
  try {
    return await openAsEitherEra(input, { framing: 'lines', timeoutMs: startupTimeoutMs, silenceMs: startupTimeoutMs - otherFramingMs });
  } catch (error) {
    if (!(error instanceof SilentServerError)) throw error;
    input.log.append('event', 'The server has not written a byte: perhaps it expects Content-Length headers. Trying again with headers.');
    return await openInHeaders(input, otherFramingMs).catch((second: unknown) => {
      // Its reaction to a framing that is not its own means nothing; the silence before does.
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
  /** How long it may write nothing at all. */
  silenceMs?: number;
}

interface Era {
  priorEra: PriorDiscovery | undefined;
  /** A second attempt waits for the first attempts of all other servers. */
  later: boolean;
}

async function openAsEitherEra(input: LocalSessionInput, attempt: Attempt): Promise<OpenedSession> {
  try {
    return await openOnce(input, { ...attempt, priorEra: input.priorEra, later: false });
  } catch (error) {
    if (!(error instanceof EndedOnProbeError)) throw error;
    // Servers of the first revisions end on any request before the handshake. Only if the second attempt fails too is the server broken.
    input.log.append(
      'event',
      'It ended when it was asked which revision it speaks, as old servers do. Starting it again as an old server.',
    );
    return openOnce(input, { ...attempt, priorEra: { kind: 'legacy' }, later: true });
  }
}

async function openOnce(input: LocalSessionInput, attempt: Attempt & Era): Promise<OpenedSession> {
  const { clientInfo, surroundings, log, signal } = input;
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
      ...surroundings,
      onSkipped: (skipped) => log.append('event', `Tools left out: ${skipped.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`),
      report: (error) => log.append('event', String(error)),
    });
  } catch (error) {
    await process.stop();
    if (signal.aborted) throw error;
    if (silence.signal.aborted) {
      const { message, summary, lastWords, details } = startupTimeout(input.source.definition, process.lastWords(wordsInErrors));
      throw new SilentServerError(message, { summary, lastWords, details });
    }
    throw await explain(input.source, process, error);
  } finally {
    clearTimeout(timer);
  }
}

/** [MCP-3] A launcher that is still fetching the package may be silent. What it does inside a container cannot be seen from here. */
function isFetching({ source }: LocalSessionInput, { pid }: ServerProcess): boolean {
  const { command, container } = source.definition;
  return packageLauncher(command) !== undefined && (container !== null || isStillFetching(pid));
}

/** The last lines of a dead process explain more than the interrupted handshake. */
async function explain({ definition }: DefinedSource<McpDefinition>, process: ServerProcess, error: unknown): Promise<CribError> {
  const exit = await process.exited;
  const lastWords = process.lastWords(wordsInErrors);
  const failure = startupFailure({ exit, lastWords, definition });
  // The process tells more than the interrupted handshake.
  if (failure.code === 'NOT_FOUND' || exit.reason !== undefined || !(error instanceof CribError)) return failure;
  if (error instanceof EndedOnProbeError) return endedForItsOwnReason(lastWords) ? failure : error;
  // We ended it ourselves, because it did not answer or answered nonsense.
  if (error instanceof TimeoutError) return startupTimeout(definition, lastWords);
  const endedByItself = exit.signal === null && exit.code !== 0;
  return endedByItself && error.code !== 'NETWORK_ERROR' ? failure : error;
}

import { CribError } from '../model/crib-error.ts';
import type { Resilience } from '../model/mcp-definition.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';
import { abortable } from './abortable.ts';
import { backoffMs } from './backoff.ts';

export interface LiveSession {
  /** The one session: opened by whoever asks first, joined by everybody else, also while it is being opened anew. */
  get(signal: AbortSignal): Promise<McpSession>;
  close(): Promise<void>;
}

interface LiveSessionInput {
  resilience: Resilience;
  open(signal: AbortSignal): Promise<McpSession>;
  onLost(reason: CribError): void;
  onReopened(session: McpSession): void;
  /** [MCP-10] After the last attempt; a start by hand works again. */
  onGivenUp(reason: CribError): void;
}

/** [MCP-5] [MCP-10] One long-lived session that is watched, and opened again with growing pauses when it is lost. */
export function createLiveSession(input: LiveSessionInput): LiveSession {
  const { resilience } = input;
  const closing = new AbortController();
  let current: Promise<McpSession> | undefined;
  let heartbeat: NodeJS.Timeout | undefined;

  function openFirst(): Promise<McpSession> {
    const opening = input.open(closing.signal).then(watch);
    opening.catch(() => {
      // The next caller tries again: a first start that failed is its caller's to report, not ours to repeat.
      if (current === opening) current = undefined;
    });
    return opening;
  }

  function watch(session: McpSession): McpSession {
    session.onLost((reason) => lose(session, reason));
    const { heartbeatIntervalMs, staleTimeoutMs, requestTimeoutMs } = resilience;
    clearInterval(heartbeat);
    if (heartbeatIntervalMs > 0) {
      heartbeat = setInterval(() => void beat(), heartbeatIntervalMs);
      heartbeat.unref();
    }
    return session;

    async function beat(): Promise<void> {
      // Any message is a sign of life, so a busy session is never asked.
      const silentMs = performance.now() - session.lastMessageAt;
      if (silentMs < heartbeatIntervalMs) return;
      try {
        await session.ping({ signal: closing.signal, timeoutMs: requestTimeoutMs });
      } catch (error) {
        const stale = staleTimeoutMs > 0 && performance.now() - session.lastMessageAt > staleTimeoutMs;
        if (closing.signal.aborted || (session.connected && !stale)) return;
        lose(
          session,
          error instanceof CribError ? error : new CribError('NETWORK_ERROR', 'The server no longer answers', { cause: error }),
        );
      }
    }
  }

  function lose(session: McpSession, reason: CribError): void {
    clearInterval(heartbeat);
    if (closing.signal.aborted) return;
    void session.close().catch(() => undefined);
    input.onLost(reason);
    current = reopen(reason);
    current.catch(() => undefined);
  }

  async function reopen(reason: CribError): Promise<McpSession> {
    let last = reason;
    for (let attempt = 0; attempt < resilience.restart.maxAttempts; attempt++) {
      await pause(backoffMs(attempt, resilience.restart.backoffMs), closing.signal);
      try {
        const session = watch(await input.open(closing.signal));
        input.onReopened(session);
        return session;
      } catch (error) {
        closing.signal.throwIfAborted();
        last = error instanceof CribError ? error : new CribError('SERVICE_UNAVAILABLE', String(error), { cause: error });
      }
    }
    const attempts = resilience.restart.maxAttempts;
    const message = `Given up after ${attempts} attempt${attempts === 1 ? '' : 's'} to start it again: ${last.message}`;
    const terminal = new CribError(last.code, message, { retryable: false, cause: last });
    input.onGivenUp(terminal);
    throw terminal;
  }

  return {
    async get(signal) {
      closing.signal.throwIfAborted();
      current ??= openFirst();
      return abortable(current, signal);
    },
    async close() {
      clearInterval(heartbeat);
      closing.abort(new CribError('SERVICE_UNAVAILABLE', 'The source is being stopped'));
      const session = await current?.catch(() => undefined);
      await session?.close();
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(done, ms);
    function done(): void {
      signal.removeEventListener('abort', abort);
      resolve();
    }
    function abort(): void {
      clearTimeout(timer);
      reject(signal.reason as Error);
    }
    signal.addEventListener('abort', abort, { once: true });
  });
}

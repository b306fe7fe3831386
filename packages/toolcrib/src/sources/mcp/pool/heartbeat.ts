import { CribError } from '../../../model/crib-error.ts';
import { ConnectionError } from '../../../model/named-errors.ts';
import type { Resilience } from '../../../model/source-definition.ts';
import type { McpSession } from '../session/mcp-session.ts';

export interface Heartbeat {
  stop(): void;
}

interface HeartbeatInput {
  session: McpSession;
  resilience: Resilience;
  signal: AbortSignal;
  /** Called for every ping, with the failure where no answer came. */
  onBeat(failure?: CribError): void;
}

/**
 * [MCP-10] Pings a session that has been silent for a while: one ping at a time, and none while messages come. A session that has been silent
 * for longer than is allowed is told that it is lost.
 */
export function startHeartbeat({ session, resilience, signal, onBeat }: HeartbeatInput): Heartbeat {
  const { heartbeatIntervalMs, staleTimeoutMs, requestTimeoutMs } = resilience;
  let timer: NodeJS.Timeout | undefined;
  let askedAt = performance.now();
  let stopped = heartbeatIntervalMs === 0;

  const silentMs = () => performance.now() - session.lastMessageAt;

  function schedule(): void {
    if (stopped || signal.aborted) return;
    // Any message is a sign of life.
    const dueAt = Math.max(session.lastMessageAt, askedAt) + heartbeatIntervalMs;
    timer = setTimeout(() => void beat(), Math.max(1, Math.ceil(dueAt - performance.now())));
    timer.unref();
  }

  async function beat(): Promise<void> {
    if (silentMs() < heartbeatIntervalMs) return schedule();
    askedAt = performance.now();
    try {
      await session.ping({ signal, timeoutMs: patienceMs() });
      if (!stopped) onBeat();
    } catch (error) {
      if (stopped || signal.aborted || !session.connected) return;
      const failure = error instanceof CribError ? error : new ConnectionError('The server no longer answers', { cause: error });
      if (isStale(failure)) return session.lose({ cause: 'silent', error: staleReason(failure) });
      onBeat(failure);
    }
    schedule();
  }

  /** No longer than until the session counts as lost. */
  function patienceMs(): number {
    if (staleTimeoutMs === 0) return requestTimeoutMs;
    const leftMs = Math.ceil(staleTimeoutMs - silentMs());
    return Math.min(requestTimeoutMs, leftMs > 0 ? leftMs : staleTimeoutMs);
  }

  /**
   * A server may be busy with a call and answer nothing else meanwhile: calls that had begun by then may take their time. Later calls do not
   * keep a dead server alive.
   */
  function isStale({ upstreamStatus }: CribError): boolean {
    // A server that refuses is there; a proxy answers 5xx for one that is not.
    if (staleTimeoutMs === 0 || (upstreamStatus !== undefined && upstreamStatus < 500)) return false;
    return silentMs() >= staleTimeoutMs && session.waitingSince >= session.lastMessageAt + staleTimeoutMs;
  }

  function staleReason(cause: CribError): CribError {
    const seconds = Math.round(silentMs() / 1000);
    return new ConnectionError(`The server has not answered for ${seconds} seconds, so it is restarted or connected to again`, { cause });
  }

  schedule();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

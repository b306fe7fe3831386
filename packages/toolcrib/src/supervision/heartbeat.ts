import { CribError } from '../model/crib-error.ts';
import { ConnectionError } from '../model/named-errors.ts';
import type { Resilience } from '../model/source-definition.ts';
import type { McpSession } from '../sources/mcp/mcp-session.ts';

export interface Heartbeat {
  stop(): void;
}

interface HeartbeatInput {
  session: McpSession;
  resilience: Resilience;
  signal: AbortSignal;
  /** Told of every answer, and of every one that did not come. */
  onBeat(failure?: CribError): void;
  /** The connection is gone, or has been silent for longer than is allowed. */
  onDead(reason: CribError): void;
}

/** [MCP-10] Asks a session that has been silent for a while whether it is there. One question at a time, and none of a busy session. */
export function startHeartbeat({ session, resilience, signal, onBeat, onDead }: HeartbeatInput): Heartbeat {
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
      if (stopped || signal.aborted) return;
      const failure = error instanceof CribError ? error : new ConnectionError('The server no longer answers', { cause: error });
      if (!session.connected) return onDead(failure);
      if (isStale(failure)) return onDead(staleReason(failure));
      onBeat(failure);
    }
    schedule();
  }

  /** Nobody waits for an answer longer than until the session counts as dead. */
  function patienceMs(): number {
    if (staleTimeoutMs === 0) return requestTimeoutMs;
    const leftMs = Math.ceil(staleTimeoutMs - silentMs());
    return Math.min(requestTimeoutMs, leftMs > 0 ? leftMs : staleTimeoutMs);
  }

  /**
   * A server may be busy with what it was called for and answer nothing else meanwhile: calls that had begun by then may take their time.
   * Those that came later do not keep a dead server alive.
   */
  function isStale({ upstreamStatus }: CribError): boolean {
    // Whoever refuses is there; 5xx is what others say in the place of a server that is not.
    if (staleTimeoutMs === 0 || (upstreamStatus !== undefined && upstreamStatus < 500)) return false;
    return silentMs() >= staleTimeoutMs && session.waitingSince >= session.lastMessageAt + staleTimeoutMs;
  }

  function staleReason(cause: CribError): CribError {
    const seconds = Math.round(silentMs() / 1000);
    return new ConnectionError(`The server has not answered for ${seconds} seconds, so it is started or connected to anew`, { cause });
  }

  schedule();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

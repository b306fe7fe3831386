import { CribError } from '../model/crib-error.ts';
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
  // Nobody waits for an answer longer than until the session counts as dead.
  const timeoutMs = staleTimeoutMs > 0 ? Math.min(staleTimeoutMs, requestTimeoutMs) : requestTimeoutMs;
  let timer: NodeJS.Timeout | undefined;
  let askedAt = performance.now();
  let stopped = heartbeatIntervalMs === 0;

  function schedule(): void {
    if (stopped || signal.aborted) return;
    // Any message is a sign of life.
    const dueAt = Math.max(session.lastMessageAt, askedAt) + heartbeatIntervalMs;
    timer = setTimeout(() => void beat(), Math.max(1, Math.ceil(dueAt - performance.now())));
    timer.unref();
  }

  async function beat(): Promise<void> {
    if (performance.now() - session.lastMessageAt < heartbeatIntervalMs) return schedule();
    askedAt = performance.now();
    try {
      await session.ping({ signal, timeoutMs });
      if (!stopped) onBeat();
    } catch (error) {
      if (stopped || signal.aborted) return;
      const reason = error instanceof CribError ? error : new CribError('NETWORK_ERROR', 'The server no longer answers', { cause: error });
      const stale = staleTimeoutMs > 0 && performance.now() - session.lastMessageAt >= staleTimeoutMs;
      if (!session.connected || stale) return onDead(reason);
      onBeat(reason);
    }
    schedule();
  }

  schedule();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

import type { DiscoveredTool } from '../model/tool.ts';
import type { McpServerInfo, McpSession } from '../sources/mcp/mcp-session.ts';
import { createPaced, type Pauses } from './paced.ts';

export interface Discovery {
  /** What the server said of itself when it was last spoken to. */
  readonly info: McpServerInfo | null;
  /** How many tools it had when it was last asked. */
  readonly tools: number;
  /** Resolves when what the server has is written. */
  discover(session: McpSession, signal: AbortSignal): Promise<void>;
  /** Asks again whenever the server says that its tools have changed. */
  follow(session: McpSession, signal: AbortSignal): void;
}

interface DiscoveryInput {
  /** [MCP-8] Whether resources are offered as tools too. */
  resources: boolean;
  /** Writes what was found; its rejection is a failed discovery. */
  onDiscovered(tools: DiscoveredTool[], info: McpServerInfo): Promise<void>;
  /** Told when it is written and the session is still there. */
  onReady(tools: number): void;
  note(message: string): void;
  /** How long a server that keeps changing is left alone; as usual where it is left out. */
  pauses?: Pauses | undefined;
}

/** From how long a pause on its log is told of it. */
const worthSayingMs = 10_000;

/** [INV-1] Asks one server for its tools. */
export function createDiscovery({ resources, onDiscovered, onReady, note, pauses }: DiscoveryInput): Discovery {
  let info: McpServerInfo | null = null;
  let tools = 0;
  let discovering: Promise<unknown> = Promise.resolve();
  let followed: { session: McpSession; signal: AbortSignal } | undefined;
  // However fast a server tells of changes, its list is asked for once at a time, and one that keeps changing more and more seldom.
  const readAgain = createPaced({
    async work() {
      if (followed === undefined || followed.signal.aborted) return;
      const { session, signal } = followed;
      await discover(session, signal).catch((error: unknown) => note(`The changed list could not be read: ${String(error)}`));
    },
    pauses,
    onPause(ms) {
      if (ms >= worthSayingMs) note(`Its tools keep changing: they are asked for again in ${Math.round(ms / 1000)} seconds.`);
    },
  });

  async function discoverNow(session: McpSession, signal: AbortSignal): Promise<void> {
    const found = await session.listTools({ signal, resources });
    info = session.info;
    await onDiscovered(found, session.info);
    tools = found.length;
    // Stopped or lost meanwhile, it is not running, whatever it has listed.
    signal.throwIfAborted();
    if (session.connected) onReady(tools);
  }

  /** One after another: a list that was asked for earlier must not be written over one that came later. */
  function discover(session: McpSession, signal: AbortSignal): Promise<void> {
    const next = discovering.then(() => discoverNow(session, signal));
    discovering = next.catch(() => undefined);
    return next;
  }

  return {
    get info() {
      return info;
    },
    get tools() {
      return tools;
    },
    discover,
    follow(session, signal) {
      followed = { session, signal };
      session.onToolsChanged(() => {
        // One that has made room for another says nothing about that.
        if (followed?.session === session) readAgain();
      });
    },
  };
}

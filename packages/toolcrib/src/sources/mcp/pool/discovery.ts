import type { DiscoveredTool } from '../../../model/tool.ts';
import type { McpSession, OfferedList } from '../session/mcp-session.ts';
import type { SourceInfo } from '../../open-source.ts';
import { createPaced, type Pauses } from '../../../resilience/paced.ts';

export interface Discovery {
  /** How the server last described itself. */
  readonly info: SourceInfo | null;
  /** How many tools it had when they were last listed. */
  readonly tools: number;
  /** Resolves when the server's tools are written. */
  discover(session: McpSession, signal: AbortSignal): Promise<void>;
  /** Lists the tools again whenever the server says that they have changed. */
  follow(session: McpSession, signal: AbortSignal): void;
}

interface DiscoveryInput {
  /** [MCP-8] Whether resources are offered as tools too. */
  resources: boolean;
  /** Writes the tools that were found; its rejection is a failed discovery. */
  onDiscovered(tools: DiscoveredTool[], info: SourceInfo): Promise<void>;
  /** [DOOR-5] Called when the server says that a list beside its tools has changed. */
  onOffersChanged(what: OfferedList): void;
  /** Called when the tools are written and the session is still open. */
  onReady(tools: number): void;
  note(message: string): void;
  /** The pauses between listings of a server that keeps changing. */
  pauses?: Pauses | undefined;
}

/** Pauses at least this long are noted in its log. */
const worthSayingMs = 10_000;

/** [INV-1] Lists the tools of one server. */
export function createDiscovery({ resources, onDiscovered, onOffersChanged, onReady, note, pauses }: DiscoveryInput): Discovery {
  let info: SourceInfo | null = null;
  let tools = 0;
  let discovering: Promise<unknown> = Promise.resolve();
  let followed: { session: McpSession; signal: AbortSignal } | undefined;
  // However often a server reports changes, it is asked once at a time, and less and less often while it keeps changing.
  const readAgain = createPaced({
    async work() {
      if (followed === undefined || followed.signal.aborted) return;
      const { session, signal } = followed;
      await discover(session, signal).catch((error: unknown) => note(`The changed list could not be read: ${String(error)}`));
    },
    pauses,
    onPause(ms) {
      if (ms >= worthSayingMs) note(`Its tools keep changing: they are listed again in ${Math.round(ms / 1000)} seconds.`);
    },
  });

  async function discoverNow(session: McpSession, signal: AbortSignal): Promise<void> {
    const found = await session.listTools({ signal, resources });
    info = session.info;
    await onDiscovered(found, session.info);
    tools = found.length;
    // If it was stopped or lost meanwhile, it is not running, even though it listed its tools.
    signal.throwIfAborted();
    if (session.connected) onReady(tools);
  }

  /** One at a time: an older list must not overwrite a newer one. */
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
        // A session that was replaced no longer counts.
        if (followed?.session === session) readAgain();
      });
      session.onOffersChanged((what) => {
        if (followed?.session === session) onOffersChanged(what);
      });
    },
  };
}

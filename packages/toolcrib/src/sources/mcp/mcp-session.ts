import type { ToolOutput } from '../../model/call.ts';
import type { CribError } from '../../model/crib-error.ts';
import type { EndSignal } from '../../model/end-signal.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { TraceContext } from '../../model/trace-context.ts';

/** What a server said of itself in the handshake. */
export interface McpServerInfo {
  name: string;
  version: string;
  protocol_version: string;
  instructions: string | null;
}

export interface McpCallOptions {
  /** Without a message of this call for so long, it has timed out; progress begins the time anew, up to `maxTotalMs`. Both may be `Infinity`. */
  timeoutMs: number;
  maxTotalMs: number;
  signal: EndSignal;
  /** [OPS-1] Told to the server with the call. */
  trace?: TraceContext | undefined;
  /** In the order they came, the last one before the answer too. */
  onProgress?(update: { progress: number; total?: number; message?: string }): void;
  onLog?(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void;
  /** [MCP-13] Asked by the server in the middle of the call; without it the question is declined. */
  onElicit?(request: JsonObject): Promise<JsonObject>;
}

/** [MCP-2] One live conversation with one server, whatever carries it. */
export interface McpSession {
  readonly info: McpServerInfo;
  readonly connected: boolean;
  /** When the last message came, in `performance.now()` milliseconds: any message counts as a sign of life. */
  readonly lastMessageAt: number;
  /** Every page. Tools only; with `resources`, also resources as tools [MCP-8]. */
  listTools(options: { signal: AbortSignal; resources: boolean }): Promise<DiscoveredTool[]>;
  /** Throws `CribError` when no answer came: NETWORK_ERROR for timeout and loss, SERVICE_UNAVAILABLE for a broken server or message. */
  callTool(name: string, args: JsonObject, options: McpCallOptions): Promise<ToolOutput>;
  /** [MCP-10] `ping`, or `server/discover` in the stateless revision. Never initialises anew. */
  ping(options: { signal: AbortSignal; timeoutMs: number }): Promise<void>;
  /** Told once, when the conversation has ended without our closing it; with the last stderr lines where there are any. */
  onLost(listener: (reason: CribError) => void): void;
  onToolsChanged(listener: () => void): void;
  /** How many calls are under way. */
  readonly calls: number;
  /** When the oldest request of a call that is still unanswered was sent, on the clock of `performance`; `Infinity` where none is. */
  readonly waitingSince: number;
  /** Resolves when none is. */
  idle(): Promise<void>;
  /** [ENV-1] Secrets with which it was opened, and which have changed since; absent where it was opened with none. */
  changedSecrets?(): Promise<string[]>;
  /** Ends it, and everything that was started for it, within about 6 seconds at most. Calls under way fail with the reason. */
  close(reason?: CribError): Promise<void>;
}

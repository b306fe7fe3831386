import type { CallOutcome } from '../../../model/call-outcome.ts';
import type { ToolOutput } from '../../../model/call.ts';
import type { CribError } from '../../../model/crib-error.ts';
import type { EndSignal } from '../../../model/end-signal.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import type { DiscoveredTool } from '../../../model/tool.ts';
import type { TraceContext } from '../../../model/trace-context.ts';
import type { SessionLoss } from './session-loss.ts';
import type { SourceInfo } from '../../open-source.ts';

export interface McpCallOptions {
  /** The timeout without any message for this call. Progress restarts it, up to `maxTotalMs`. Both may be `Infinity`. */
  timeoutMs: number;
  maxTotalMs: number;
  signal: EndSignal;
  /** [OPS-1] Sent to the server with the call. */
  trace?: TraceContext | undefined;
  /** In order, and always before the answer. */
  onProgress?(update: { progress: number; total?: number; message?: string }): void;
  onLog?(level: 'debug' | 'info' | 'warning' | 'error', data: Json): void;
  /** [MCP-13] Answers a question of the server during the call; without it questions are declined. */
  onElicit?(request: JsonObject, key?: string): Promise<JsonObject>;
  /** [DOOR-5] What the caller's client offers, for a server of the stateless revision; what we offer ourselves otherwise. */
  readonly clientCapabilities?: JsonObject | undefined;
  /** [DOOR-5] Puts another request of the server to the caller's client; without it, and where it rejects, the request is refused. */
  onAsk?(method: string, params: JsonObject, key?: string): Promise<JsonObject>;
  /** [DOOR-5] For a watch of a resource. */
  readonly watcher?: ResourceWatcher | undefined;
}

/** [DOOR-5] Somebody who watches a resource. */
export interface ResourceWatcher {
  /** The server watches from now on. */
  begun(): void;
  /** The resource, or a part of it, has changed. */
  updated(uri: string): void;
}

/** [DOOR-5] What a server lists beside tools. */
export type OfferedList = 'resources' | 'prompts';

/** [MCP-2] One session with one server, over any transport. */
export interface McpSession {
  readonly info: SourceInfo;
  readonly connected: boolean;
  /** When the last message came, in `performance.now()` milliseconds. Any message is a sign of life. */
  readonly lastMessageAt: number;
  /** Every page. Tools only; with `resources`, also resources as tools [MCP-8]. */
  listTools(options: { signal: AbortSignal; resources: boolean }): Promise<DiscoveredTool[]>;
  /** Throws `CribError` when no answer came: NETWORK_ERROR for timeout and loss, SERVICE_UNAVAILABLE for a broken server or message. */
  callTool(name: string, args: JsonObject, options: McpCallOptions): Promise<ToolOutput>;
  /** The same without a promise; false, with nothing sent, where the call has to be made with `callTool`. */
  startTool(name: string, args: JsonObject, options: McpCallOptions, outcome: CallOutcome): boolean;
  /**
   * [DOOR-5] Any other request of a client: the result is the structured content. A list is read to its end, and is empty where the server
   * offers nothing of the kind. A watch of a resource lasts until the signal ends it, or the session is over.
   */
  ask(method: string, params: JsonObject, options: McpCallOptions): Promise<ToolOutput>;
  /** [MCP-10] `ping`, or `server/discover` in the stateless revision. Never repeats the handshake. */
  ping(options: { signal: AbortSignal; timeoutMs: number }): Promise<void>;
  /** Calls the listener once, when the session has ended without our closing it; at once where that has happened already. */
  onLost(listener: (loss: SessionLoss) => void): void;
  /** Declares the session lost, for code that notices the loss. */
  lose(loss: SessionLoss): void;
  onToolsChanged(listener: () => void): void;
  /** [DOOR-5] Once somebody listens for changed tools, the server's word that another list has changed is passed on. */
  onOffersChanged(listener: (what: OfferedList) => void): void;
  /** How many calls are under way. */
  readonly calls: number;
  /** When the oldest unanswered call was sent, in `performance.now()` milliseconds; `Infinity` where all are answered. */
  readonly waitingSince: number;
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
  /** [ENV-1] The secrets it was opened with that have changed since; absent where it was opened with none. */
  changedSecrets?(): Promise<string[]>;
  /** Ends it, and everything that was started for it, within about 6 seconds at most. Calls under way fail with the reason. */
  close(reason?: CribError): Promise<void>;
}

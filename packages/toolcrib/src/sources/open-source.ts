import type { CribError } from '../model/crib-error.ts';
import type { ImportSummary } from '../model/import-summary.ts';
import type { CallOutcome } from '../model/call-outcome.ts';
import type { ToolOutput } from '../model/call.ts';
import type { JsonObject } from '../model/json.ts';
import type { SourceNotice } from '../model/observer.ts';
import type { DiscoveredTool, Tool } from '../model/tool.ts';
import type { CallContext } from './source.ts';
import type { HealthRecord } from './upstream/health.ts';

/** How a source describes itself. */
export interface SourceInfo {
  name: string;
  version: string;
  /** The revision of MCP, or the format of a document. */
  protocol_version: string;
  instructions: string | null;
}

/** [OPS-1] How many sessions with a source are open, by purpose. */
export interface SessionCounts {
  lasting: number;
  standby: number;
  call: number;
  user: number;
}

/** How a source followed a change of secrets. */
export type SecretsFollowed = 'unaffected' | 'renewed' | 'kept';

export type CallSource = (tool: Tool, args: JsonObject, context: CallContext) => Promise<ToolOutput> | ToolOutput;
export type StartCall = (tool: Tool, args: JsonObject, context: CallContext, outcome: CallOutcome) => boolean;

/**
 * One source, as its kind runs it. The lifecycle in `supervision/` decides when to start, retry and close the source, and owns its status;
 * the kind reports what happens in between to its `SourceHost`.
 */
export interface OpenSource {
  /** Whether the source runs elsewhere: a failed start is then retried until it succeeds, because a retry costs next to nothing. */
  readonly elsewhere: boolean;
  /** Whether calls continue during a restart: the tools of a document carry all that a call needs. */
  readonly servesWhileStarting: boolean;
  /** False if calls say nothing about its health: a workflow is as healthy as the tools it calls. */
  readonly hasHealth: boolean;
  /** [ID-5] Whether each user has their own credential, so that a refusal says nothing about the source. */
  readonly perUser: boolean;
  /** False while tools cannot be discovered. A restart finds out whether the source is back. */
  readonly reachable: boolean;
  readonly info: SourceInfo | null;
  /** [OAS-1] The result of importing the document that describes the source. */
  readonly imported?: ImportSummary | null;
  readonly sessions?: SessionCounts;
  /** Secrets whose value has changed since the source started with them. */
  readonly outdatedSecrets?: readonly string[];
  /** A message about a start that takes long; `since` is when it began, in epoch milliseconds. */
  startingMessage?(since: number): string | undefined;
  /**
   * [LIFE-3] Opens what calls need, discovers the tools, and calls `host.ready`. Resolves with an error if the source runs although
   * something is missing; rejects if it cannot run, with nothing left open.
   */
  start(signal: AbortSignal): Promise<CribError | undefined>;
  /** Called with every new reason for a failed start. */
  startFailed?(reason: CribError): void;
  /** [INV-1] Discovers the tools again. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Throws `CribError` if the call could not be made; a tool's own failure is an output with `is_error`. */
  readonly call: CallSource;
  /** The same without a promise; false, with nothing done, where the call has to be made with `call`. */
  readonly startCall?: StartCall;
  /** [ENV-1] Resolves when no new call uses an old value, unless the source keeps it. */
  secretsChanged?(): Promise<SecretsFollowed>;
  /** [MCP-5] Closes what was opened with the credential of this user. */
  endSessionsOf?(owner: string): Promise<void>;
  /** [LIFE-4] Ends running calls with this reason. Resolves when everything is closed; the source may then be started again. */
  close(reason: CribError): Promise<void>;
}

/** Receives what a kind reports about one of its sources. */
export interface SourceHost {
  readonly health: HealthRecord;
  /** A line for the source's log. */
  note(message: string): void;
  notice(notice: SourceNotice): void;
  /** Stores the discovered tools. If this rejects, the discovery has failed. */
  discovered(tools: DiscoveredTool[], info: SourceInfo): Promise<void>;
  /** [DOOR-5] A list beside the tools has changed. */
  offersChanged(what: 'resources' | 'prompts'): void;
  /** How many tools of the source the inventory has. */
  countTools(): number;
  /** The source runs with this many tools. `missing` says what it still lacks. */
  ready(tools: number, missing?: string): void;
  /** Says what the source waits for while it starts or reads its document again. */
  waiting(message: string): void;
  /** The source was lost, and the kind reconnects it: its tools stay listed, and calls wait. */
  lost(reason: CribError): void;
  /** [MCP-10] The last attempt to reconnect has failed. */
  gaveUp(reason: CribError): void;
}

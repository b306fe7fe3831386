import type { Answer, McpCallEvent } from 'toolcrib';
import type { ListedTool } from 'toolcrib/api';

/** An event during a call: progress, or a line of its log. */
export type CallEvent = McpCallEvent;

/** [MCP-13] A question that a tool asks during a call: `message`, and the schema of the form to fill in. */
export interface Question {
  message?: string;
  requestedSchema?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface ElicitationAnswer {
  action: 'accept' | 'decline' | 'cancel';
  /** The values that were filled in, when accepted. */
  content?: Record<string, unknown>;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  onEvent?(event: CallEvent): void;
  onElicitation?(question: Question): Promise<ElicitationAnswer>;
}

/** Options that apply to all calls. */
export interface ToolOptions {
  /** The timeout of a call, unless the tool has a shorter one. Defaults to Toolcrib's own. */
  timeoutMs?: number;
  /** Answers a tool's questions during a call, usually by asking the user. Without it every question is declined. */
  onElicitation?(question: Question, tool: ListedTool): Promise<ElicitationAnswer>;
}

/** Calls a tool, in this process or on a Toolcrib server. Throws refusals as `ToolcribError`; a failure of the tool is in the answer. */
export type ToolCall = (tool: ListedTool, args: unknown, options: CallOptions) => Promise<Answer>;

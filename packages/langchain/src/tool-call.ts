import type { Answer, McpCallEvent } from 'toolcrib';
import type { ListedTool } from 'toolcrib/api';

/** What a call tells while it runs: its progress, and lines of its log. */
export type CallEvent = McpCallEvent;

/** [MCP-13] What a tool asks in the middle of a call: `message`, and the schema of the form to fill in. */
export interface Question {
  message?: string;
  requestedSchema?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface ElicitationAnswer {
  action: 'accept' | 'decline' | 'cancel';
  /** What was filled in, when accepted. */
  content?: Record<string, unknown>;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  onEvent?(event: CallEvent): void;
  onElicitation?(question: Question): Promise<ElicitationAnswer>;
}

/** What an application decides about all calls. */
export interface ToolOptions {
  /** How long a call may take, unless the tool has less; Toolcrib's own default otherwise. */
  timeoutMs?: number;
  /** Answers what a tool asks in the middle of a call, usually by asking the user. Without it every question is declined. */
  onElicitation?(question: Question, tool: ListedTool): Promise<ElicitationAnswer>;
}

/** How a tool is called, here or over there. Refusals are thrown as `ToolcribError`; what the tool did is in the answer. */
export type ToolCall = (tool: ListedTool, args: unknown, options: CallOptions) => Promise<Answer>;

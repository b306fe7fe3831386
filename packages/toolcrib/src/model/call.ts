import type { ErrorCode } from './error-code.ts';
import type { Json, JsonObject } from './json.ts';
import type { Origin } from './origin.ts';

/** [EXEC-2] */
export const callStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled', 'timed_out', 'unknown'] as const;
export type CallStatus = (typeof callStatuses)[number];

/** One block of a tool's answer, in MCP's form: text, image, audio, resource or link. */
export interface ContentBlock {
  type: string;
  text?: string;
  [field: string]: Json | undefined;
}

/** A text, and the JSON that its source wrote it as. */
export interface RawText {
  readonly text: string;
  readonly json: string;
}

/** What a source gives back for one call. `is_error` is the tool's own failure: a result, not an exception. */
export interface ToolOutput {
  content: ContentBlock[];
  structured_content?: Json;
  is_error?: boolean;
  /** Of an error: where it has another code than a tool's own failure, or is not the tool's at all. */
  failure?: { code?: ErrorCode; origin?: Origin };
  metadata?: JsonObject;
  /** Of a large text among the content. It is compared before it is used, so that a text that was changed since is written anew. */
  raw_text?: RawText;
}

export interface CallError {
  code: ErrorCode;
  message: string;
  origin: Origin;
  retryable: boolean;
  upstream_status?: number;
  details?: Json;
}

/** [EXEC-1] What a caller gets for a call, whatever the source. */
export interface Answer {
  call_id: string;
  tool_id: string;
  tool: string;
  success: boolean;
  status: CallStatus;
  is_error: boolean;
  content: ContentBlock[];
  structured_content: Json;
  result: Json;
  text: string;
  error: CallError | null;
  execution_time_ms: number;
  metadata: JsonObject;
}

/** [SEC-4] One line of the record: every call and every denial, without arguments or results. */
export interface CallRecord {
  /** UUIDv7, so records sort by the time they began. */
  call_id: string;
  /** Epoch milliseconds. */
  started_at: number;
  duration_us: number;
  issuer: string;
  subject: string;
  client: string | null;
  tool_id: string | null;
  /** The canonical name, or what was asked for where no such tool is there for the caller. */
  tool: string;
  source_id: string | null;
  definition_hash: string | null;
  /** Ids of the policies that granted it, separated by spaces. */
  policies: string;
  policy_revision: number;
  status: CallStatus;
  error_code: ErrorCode | null;
  /** What people call the caller, as their token said it. Null where it did not, and in records from before it was kept. */
  user_name: string | null;
  /** Whose failure it was; null where there was none, and in records from before this field. */
  error_origin: Origin | null;
  /** [DOOR-3] Null for the REST API. */
  door: string | null;
  /** [DOOR-3] The name and version of the client, as it gave them; null where the door has no such thing. */
  agent: string | null;
}

/** [DOOR-3] Through which door a call came, and from what program. */
export interface CallVia {
  readonly door: 'mcp';
  readonly agent: string | null;
}

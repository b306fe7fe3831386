import type { JsonObject } from './json.ts';
import type { ManagedBy } from './managed-by.ts';
import type { McpDefinition } from './mcp-definition.ts';
import type { OpenApiDefinition } from './openapi-definition.ts';
import type { WorkflowDefinition } from './workflow-definition.ts';

/** [LIFE-1] What was seen of a source, as opposed to `enabled`, which is what is wanted. */
export type SourceStatus =
  | { state: 'disabled' }
  | { state: 'stopped' }
  /** With a message where it waits for its turn, or takes its time. */
  | { state: 'starting'; message?: string }
  /** With a message where it runs and something is wanting all the same. */
  | { state: 'running'; tools: number; message?: string; retry_at?: string }
  | { state: 'restarting' }
  /** `retry_at`: when it is tried again by itself (ISO 8601). */
  | { state: 'error'; code: string; message: string; retry_at?: string };

/** [LIFE-1] How a source has answered lately. A tool's own failure says nothing about its source. */
export type SourceHealth = 'unknown' | 'healthy' | 'degraded' | 'unhealthy' | 'unauthenticated';

/** [EXEC-7] Whether calls of a source are let through, refused at once, or tried one at a time. */
export const breakerStates = ['closed', 'open', 'half_open'] as const;
export type BreakerState = (typeof breakerStates)[number];

interface StoredSource {
  id: string;
  name: string;
  namespace: string;
  enabled: boolean;
  /** [SRC-2] As it was given, without its secrets; absent where it was registered before that was kept. */
  registration?: JsonObject;
  managed_by: ManagedBy;
  created_at: number;
  updated_at: number;
}

export interface McpSource extends StoredSource {
  source_type: 'mcp';
  definition: McpDefinition;
}

/** [SRC-5] */
export interface OpenApiSource extends StoredSource {
  source_type: 'openapi';
  definition: OpenApiDefinition;
}

/** [WF-1] */
interface WorkflowSource extends StoredSource {
  source_type: 'workflow';
  definition: WorkflowDefinition;
}

/** What comes with Toolcrib itself. */
export interface BuiltinSource extends StoredSource {
  source_type: 'builtin';
  definition: null;
}

/** Where tools come from and how to reach it, as it is stored. */
export type SourceRecord = McpSource | OpenApiSource | WorkflowSource | BuiltinSource;

/** One that somebody has registered. */
export type DefinedSource = Exclude<SourceRecord, BuiltinSource>;
/** One that a document describes. */
export type DocumentSource = OpenApiSource | WorkflowSource;
export type AnyDefinition = DefinedSource['definition'];

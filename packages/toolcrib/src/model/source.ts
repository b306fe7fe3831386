import type { ManagedBy } from './managed-by.ts';
import type { McpDefinition } from './mcp-definition.ts';

type SourceType = 'mcp' | 'openapi' | 'builtin' | 'workflow';

/** [LIFE-1] What was seen of a source, as opposed to `enabled`, which is what is wanted. */
export type SourceStatus =
  | { state: 'disabled' }
  | { state: 'stopped' }
  | { state: 'starting' }
  /** With a message where it runs and something is wanting all the same. */
  | { state: 'running'; tools: number; message?: string }
  | { state: 'restarting' }
  | { state: 'error'; code: string; message: string };

/** [LIFE-1] How a source has answered lately. A tool's own failure says nothing about its source. */
export type SourceHealth = 'unknown' | 'healthy' | 'degraded' | 'unhealthy' | 'unauthenticated';

/** [EXEC-7] Whether calls of a source are let through, refused at once, or tried one at a time. */
export const breakerStates = ['closed', 'open', 'half_open'] as const;
export type BreakerState = (typeof breakerStates)[number];

/** Where tools come from, as it is stored. */
export interface SourceRecord {
  id: string;
  name: string;
  namespace: string;
  source_type: SourceType;
  enabled: boolean;
  /** How to reach it; null for what comes with Toolcrib itself. */
  definition: McpDefinition | null;
  managed_by: ManagedBy;
  created_at: number;
  updated_at: number;
}

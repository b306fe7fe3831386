import type { JsonObject } from './json.ts';
import type { ManagedBy } from './managed-by.ts';
import type { SourceDefinition } from './source-definition.ts';

/** [LIFE-1] What was seen of a source, as opposed to `enabled`, which is what is wanted. */
export type SourceStatus =
  | { state: 'disabled' }
  | { state: 'stopped' }
  /** With a message where it waits for its turn, or takes its time. */
  | { state: 'starting'; message?: string }
  /** With a message where it runs and something is wanting all the same. */
  | { state: 'running'; tools: number; message?: string; retry_at?: string }
  | { state: 'restarting' }
  /**
   * `summary` is the message without the last lines of its program, where it quotes some, and `last_words` are those lines. `retry_at`: when
   * it is tried again by itself (ISO 8601).
   */
  | { state: 'error'; code: string; message: string; summary?: string; last_words?: readonly string[]; retry_at?: string };

/** [LIFE-1] How a source has answered lately. A tool's own failure says nothing about its source. */
export type SourceHealth = 'unknown' | 'healthy' | 'degraded' | 'unhealthy' | 'unauthenticated';

/** [EXEC-7] Whether calls of a source are let through, refused at once, or tried one at a time. */
export const breakerStates = ['closed', 'open', 'half_open'] as const;
export type BreakerState = (typeof breakerStates)[number];

/** Where tools come from and how to reach it, as it is stored. Its kind knows what else the definition has. */
export interface SourceRecord<Definition extends SourceDefinition | null = SourceDefinition | null> {
  id: string;
  name: string;
  namespace: string;
  enabled: boolean;
  /** The name of its kind; `sources/registry.ts` lists them. */
  source_type: string;
  /** Null for what comes with Toolcrib itself. */
  definition: Definition;
  /** [SRC-2] As it was given, without its secrets; absent where it was registered before that was kept. */
  registration?: JsonObject;
  managed_by: ManagedBy;
  created_at: number;
  updated_at: number;
}

/** One that somebody has registered. */
export type DefinedSource<Definition extends SourceDefinition = SourceDefinition> = SourceRecord<Definition>;

export function isDefined(source: SourceRecord): source is DefinedSource {
  return source.definition !== null;
}

type SourceType = 'mcp' | 'openapi' | 'builtin' | 'workflow';

/** [LIFE-1] What was seen of a source, as opposed to `enabled`, which is what is wanted. */
export type SourceStatus =
  | { state: 'disabled' }
  | { state: 'stopped' }
  | { state: 'starting' }
  | { state: 'running'; tools: number }
  | { state: 'restarting' }
  | { state: 'error'; code: string; message: string };

/** Where tools come from, as it is stored. */
export interface SourceRecord {
  id: string;
  name: string;
  namespace: string;
  source_type: SourceType;
  enabled: boolean;
  created_at: number;
  updated_at: number;
}

import { hash } from 'node:crypto';

/** An opaque id that stays the same when a tool vanishes and comes back, and on every replica. */
export function toolId(sourceId: string, toolName: string): string {
  return `tool_${hash('sha256', `${sourceId}\n${toolName}`, 'hex').slice(0, 24)}`;
}

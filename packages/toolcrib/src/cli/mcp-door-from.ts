import { UsageError } from '../model/usage-error.ts';
import type { ServeConfig } from '../server/server-config.ts';
import type { Given } from './given.ts';

/** [DOOR-1] Whether MCP clients are served. */
export function mcpDoorFrom(given: Given<'mcp-door'>): Pick<ServeConfig, 'mcpDoor'> {
  const asked = given.text('mcp-door');
  if (asked === undefined) return {};
  if (asked !== 'on' && asked !== 'off')
    throw new UsageError(`${given.origin('mcp-door') ?? '--mcp-door'} must be on or off`, { field: 'mcp-door' });
  return { mcpDoor: asked === 'on' };
}

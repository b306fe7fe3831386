import type { McpDefinition } from '../mcp-definition.ts';

/** The launcher of a server's command. */
export type Runtime = NonNullable<McpDefinition['runtime_hint']>;

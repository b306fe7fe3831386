import type { McpDefinition } from '../../../model/mcp-definition.ts';

/** What starts a server's command. */
export type Runtime = NonNullable<McpDefinition['runtime_hint']>;

import type { McpDefinition } from './mcp-definition.ts';
import { createSourceFillIn, type EnvironmentInput } from '../upstream/environment.ts';

/** [ENV-2] Fills in `${NAME}` in the command and the address, where a registration refers to a secret. */
export async function fillInDefinition(definition: McpDefinition, resolving: EnvironmentInput): Promise<McpDefinition> {
  const fillIn = createSourceFillIn(definition, resolving);
  // `${PORT}` of a local server over HTTP is known only when it is started.
  const fill = async (text: string, field: string) => (text.includes('${PORT}') ? text : fillIn.text(text, field));
  const command = await Promise.all(definition.command.map((part, index) => fill(part, `command.${index}`)));
  const server_url = definition.server_url === null ? null : await fillIn.text(definition.server_url, 'server_url');
  return { ...definition, command, server_url };
}

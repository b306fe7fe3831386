import type { McpDefinition } from '../../model/mcp-definition.ts';
import { createSourceFillIn, type EnvironmentInput } from '../upstream/environment.ts';

/** [ENV-2] `${NAME}` in the command and the address, where a registration has put a reference in place of a secret. */
export async function fillInDefinition(definition: McpDefinition, resolving: EnvironmentInput): Promise<McpDefinition> {
  const fillIn = createSourceFillIn(definition, resolving);
  // The port of a local server over HTTP is only known when it is started.
  const fill = async (text: string, field: string) => (text.includes('${PORT}') ? text : fillIn.text(text, field));
  const command = await Promise.all(definition.command.map((part, index) => fill(part, `command.${index}`)));
  const server_url = definition.server_url === null ? null : await fillIn.text(definition.server_url, 'server_url');
  return { ...definition, command, server_url };
}

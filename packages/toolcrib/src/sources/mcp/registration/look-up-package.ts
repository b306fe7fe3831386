import { CribError } from '../../../model/crib-error.ts';
import type { LookedUp } from '../../../model/looked-up.ts';
import type { McpDefinition } from '../mcp-definition.ts';
import type { McpRegistrationContext } from './mcp-registration-context.ts';
import type { ReadPackage } from './read-package.ts';

/**
 * [SRC-2] Looks up the server in the registry that the registration names; undefined if it names none. The stored response is used until
 * the name or version changes, so that no update or restart brings other code by itself. If package and transport were given by hand, a
 * failed lookup is ignored, unless the registry has deleted the server.
 */
export async function lookUpPackage(described: ReadPackage, context: McpRegistrationContext): Promise<LookedUp | undefined> {
  const { origin, package: given, transport, field } = described;
  const { lookUp, known } = context;
  if (origin === 'manual' || lookUp === undefined) return undefined;
  const definition = known?.definition as McpDefinition | undefined;
  if (definition !== undefined && definition.looked_up !== null && isSame(definition.origin, origin)) return definition.looked_up;
  try {
    return await lookUp(origin, field('source'));
  } catch (error) {
    if (!(error instanceof CribError) || error.code === 'FORBIDDEN') throw error;
    if (given !== undefined && transport !== undefined) return undefined;
    throw error;
  }
}

function isSame(before: McpDefinition['origin'], after: McpDefinition['origin']): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

import { CribError } from '../../../model/crib-error.ts';
import type { LookedUp } from '../../../model/looked-up.ts';
import type { McpDefinition } from '../../../model/mcp-definition.ts';
import type { RegistrationContext } from '../../registration/registration-context.ts';
import type { ReadPackage } from './read-package.ts';

/**
 * [SRC-2] What the registry that a registration names says of the server; undefined where it names none. It is asked once: what is kept of
 * the answer holds until another name or version is given, so that no update or restart brings other code by itself. Where package and
 * transport were given by hand, a registry that does not know the server, or cannot be asked, is no obstacle.
 */
export async function lookUpPackage(described: ReadPackage, context: RegistrationContext): Promise<LookedUp | undefined> {
  const { origin, package: given, transport, field } = described;
  const { lookUp, known } = context;
  if (origin === 'manual' || lookUp === undefined) return undefined;
  const definition = known !== undefined && known.source_type === 'mcp' ? known.definition : undefined;
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

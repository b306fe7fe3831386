import { CribError } from '../../model/crib-error.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { SourceDefinition } from '../../model/source-definition.ts';

/** A source whose definition, or else its document, says where the service is. */
type DescribedSource = DefinedSource<SourceDefinition & { origins?: string[] }>;

const mostListed = 20;

/** [SEC-1] The service's origins as the definition states them; undefined if the definition leaves them to the document. */
export function statedOrigins({ definition }: DescribedSource): string[] | undefined {
  if (definition.server_url !== null) return [new URL(definition.server_url).origin];
  const { origins = [] } = definition;
  return origins.length > 0 ? origins : undefined;
}

/**
 * [SEC-1] Why a source cannot be used yet: it has secrets, the document names several origins, and nobody has said which of them may
 * receive the secrets. Null if the source can be used.
 */
export function heldOrigins(source: DescribedSource, origins: readonly string[]): CribError | null {
  const { credential, headers } = source.definition;
  const hasSecrets = credential.type !== 'none' || Object.keys(headers).length > 0;
  if (!hasSecrets || origins.length < 2 || statedOrigins(source) !== undefined) return null;
  const listed = origins.slice(0, mostListed).join(', ');
  const more = origins.length > mostListed ? ` and ${origins.length - mostListed} more` : '';
  const message = `The document names several origins: ${listed}${more}. List those that may receive the credential in openapi.origins (--origin), or set openapi.server_url`;
  return new CribError('VALIDATION_ERROR', message, { field: 'openapi.origins', details: { origins: [...origins] } });
}

import { CribError } from '../../model/crib-error.ts';
import type { DocumentSource } from '../../model/source.ts';

const mostListed = 20;

/** [SEC-1] Where the definition itself says the service is; undefined where it leaves that to the document. */
export function statedOrigins({ definition }: DocumentSource): string[] | undefined {
  if (definition.server_url !== null) return [new URL(definition.server_url).origin];
  return 'origins' in definition && definition.origins.length > 0 ? definition.origins : undefined;
}

/**
 * [SEC-1] Why a source has to wait: it has a credential, the document names several places, and nobody has said which of them may have it.
 * Null where there is nothing to wait for.
 */
export function heldOrigins(source: DocumentSource, origins: readonly string[]): CribError | null {
  const { credential, headers } = source.definition;
  const hasSecrets = credential.type !== 'none' || Object.keys(headers).length > 0;
  if (!hasSecrets || origins.length < 2 || statedOrigins(source) !== undefined) return null;
  const listed = origins.slice(0, mostListed).join(', ');
  const more = origins.length > mostListed ? ` and ${origins.length - mostListed} more` : '';
  const message = `The document names several places: ${listed}${more}. Say which of them may have the credential: list those in openapi.origins (--origin), or give openapi.server_url`;
  return new CribError('VALIDATION_ERROR', message, { field: 'openapi.origins', details: { origins: [...origins] } });
}

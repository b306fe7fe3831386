import { CribError } from '../../../model/crib-error.ts';

const mostNamed = 10;

/** [SEC-2] Says what is allowed too, for the person who registers. */
export function notAllowed(what: string, allowed: readonly string[]): CribError {
  const named = allowed.slice(0, mostNamed).join(', ');
  const rest = allowed.length > mostNamed ? `, and ${allowed.length - mostNamed} more` : '';
  const instead = allowed.length === 0 ? 'They allow none of this kind' : `They allow: ${named}${rest}`;
  return new CribError('FORBIDDEN', `The operator's run rules do not allow ${what}. ${instead}`, { field: 'command' });
}

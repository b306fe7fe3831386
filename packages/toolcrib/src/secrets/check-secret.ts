import { CribError } from '../model/crib-error.ts';
import { longestSecret, secretNameSchema } from './secret-name.ts';
import { hiddenValue } from './secret.ts';

/** Refuses values that cannot be stored. No message repeats the value. */
export function checkSecret(name: string, value: string): void {
  const parsed = secretNameSchema.safeParse(name);
  if (!parsed.success) throw new CribError('VALIDATION_ERROR', `name: ${parsed.error.issues[0]?.message}`, { field: 'name' });
  const wrong = misfitOf(value);
  if (wrong !== undefined) throw new CribError('VALIDATION_ERROR', wrong, { field: 'value' });
}

function misfitOf(value: string): string | undefined {
  if (value === '') return 'A secret cannot be empty: delete it instead';
  if (value.length > longestSecret) return `A secret may have ${longestSecret} letters`;
  // Half a surrogate pair has no UTF-8, and would come back as something else.
  return value.isWellFormed() ? undefined : 'A secret must be well-formed text';
}

/** [ENV-4] The placeholder was sent back for a secret that is not there. */
export function nothingToKeep(name: string): never {
  throw new CribError('VALIDATION_ERROR', `${hiddenValue} stands for the stored value, and ${name} has none: send the value itself`, {
    field: 'value',
  });
}

import type { NamedValue } from '../../model/source-definition.ts';
import { ownerOf } from '../../secrets/secret-name.ts';
import { hiddenValue } from '../../secrets/secret.ts';
import { invalid } from './invalid.ts';
import { hasReference, looksLikeSecretValue, looksSecret } from '../../secrets/secret-looks.ts';
import type { ValueInput } from './value-input.ts';

/** Replaces secret values by references while a definition is made. */
export interface SecretCollector {
  /** `variable` names the secret; `secret` makes the value a secret whatever its name looks like; `field` is for error messages. */
  keep(variable: string, input: ValueInput, options: { field: string; secret?: boolean }): NamedValue;
  readonly secrets: Record<string, string>;
}

export function createSecretCollector(secretName: (variable: string) => string): SecretCollector {
  const secrets: Record<string, string> = {};
  return {
    secrets,
    keep(variable, input, { field, secret = false }) {
      const named = typeof input === 'string' ? { value: input } : input;
      if ('secret_ref' in named) {
        if (ownerOf(named.secret_ref) !== undefined && !named.secret_ref.startsWith(secretName(''))) {
          throw invalid(field, 'This secret belongs to another source. Use a secret that every source may use');
        }
        return named;
      }
      const { value } = named;
      if (value.includes('\0'))
        throw invalid(field, 'The value contains a NUL character, which environment variables and headers cannot contain');
      if (value === hiddenValue)
        throw invalid(field, `${hiddenValue} is how a secret is shown, and none is stored for this address. Give the value itself`);
      const isSecret = secret || looksSecret(variable) || looksLikeSecretValue(value);
      if (!isSecret || value === '' || hasReference(value)) return { value };
      secrets[variable] = value;
      return { secret_ref: secretName(variable) };
    },
  };
}

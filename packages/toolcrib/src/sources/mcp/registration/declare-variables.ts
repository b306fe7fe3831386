import type { Draft } from '../../registration/draft.ts';
import { isHeaderName } from '../../upstream/header-rules.ts';
import { checkVariableName } from '../../upstream/variable-names.ts';
import type { ManifestVariable } from './manifest-model.ts';
import type { ReadPackage } from './read-package.ts';
import type { GivenVariable } from './read-variables.ts';

/** The variables that a registration gives to its package. */
export function givenVariables({ variables }: ReadPackage): Map<string, GivenVariable> {
  return new Map(
    Array.from(variables, ([name, { value, secretRef, secret }]) => {
      const input = secretRef === undefined ? value : { secret_ref: secretRef };
      return [name, { input: input === '' ? undefined : input, secret }];
    }),
  );
}

interface Declared {
  declared?: readonly ManifestVariable[];
  /** For a remote server, a variable with the name of a header is a header, and is not declared. */
  isRemote?: boolean;
}

/** [SRC-10] Declares the variables that the registration describes, except those that a registry has declared already. */
export function declareVariables(draft: Draft, { variables, field }: ReadPackage, { declared = [], isRemote = false }: Declared): void {
  const known = new Set(declared.map(({ name }) => name));
  for (const [name, { secret, required, value, secretRef }] of variables) {
    if (known.has(name)) continue;
    const at = field(`env_vars.${name}`);
    if (required && (value ?? '') === '' && secretRef === undefined) draft.missing.push(at);
    if (isRemote && isHeaderName(name)) continue;
    checkVariableName(name, at.slice(0, 500), true);
    draft.definitions.push({ name, description: '', required, secret });
  }
}

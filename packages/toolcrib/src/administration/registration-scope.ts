import { CribError } from '../model/crib-error.ts';
import type { Pinning } from '../model/source-definition.ts';
import type { Egress } from '../net/egress.ts';
import { createFillIn } from '../secrets/fill-in.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { SourceKinds } from '../sources/open-kinds.ts';
import type { RegistrationContext } from '../sources/registration/registration-context.ts';

export type ScopeOf = (sourceId: string, sourceType: string) => RegistrationContext;

interface RegistrationScopeInput {
  secrets: Pick<SecretStore, 'get'>;
  /** [ENV-2] Environment variables of the server that sources may refer to. */
  allowedNames: ReadonlySet<string>;
  egress: Pick<Egress, 'checkLiteral' | 'checkAddress'>;
  kinds: SourceKinds;
  /** [INV-3] The default for sources that do not set it. */
  pinning: Pinning | undefined;
}

/** [SRC-10] The secrets and variables that a source can refer to, resolved in the same way as when the source is started. */
export function createScopeOf({ secrets, allowedNames, egress, kinds, pinning }: RegistrationScopeInput): ScopeOf {
  return (sourceId, sourceType) => {
    const fillIn = createFillIn({ secrets, sourceId, allowedNames, environment: process.env, declared: {} });
    return {
      ...kinds.of(sourceType).registrationContext,
      pinning,
      checkLiteral: egress.checkLiteral,
      checkAddress: egress.checkAddress,
      secretName: (variable) => sourceSecretName(sourceId, variable),
      hasSecret: async (name) => (await secrets.get(name)) !== undefined,
      async hasVariable(name) {
        try {
          return (await fillIn.text(`\${${name}}`, '')).trim() !== '';
        } catch (error) {
          if (error instanceof CribError && error.code === 'VALIDATION_ERROR') return false;
          throw error;
        }
      },
    };
  };
}

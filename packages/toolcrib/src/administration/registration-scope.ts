import { CribError } from '../model/crib-error.ts';
import type { Pinning } from '../model/source-definition.ts';
import type { Egress } from '../net/egress.ts';
import { createFillIn } from '../secrets/fill-in.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { readManifest } from '../sources/mcp/registration/manifest.ts';
import type { LookUpServer } from '../sources/mcp/registry/registry-lookup.ts';
import type { RegistrationContext } from '../sources/registration/registration-context.ts';

export type ScopeOf = (sourceId: string) => RegistrationContext;

interface RegistrationScopeInput {
  secrets: Pick<SecretStore, 'get'>;
  /** [ENV-2] Environment variables of ours that sources may name. */
  allowedNames: ReadonlySet<string>;
  /** Directories of this machine that containers may mount. */
  allowedMounts: readonly string[];
  egress: Pick<Egress, 'checkLiteral' | 'checkAddress'>;
  /** [SRC-2] */
  lookUp: LookUpServer;
  /** [INV-3] For sources that say nothing. */
  pinning: Pinning | undefined;
}

/** [SRC-10] What there is for one source to refer to, judged by what will fill it in when the server is started. */
export function createScopeOf({ secrets, allowedNames, allowedMounts, egress, lookUp, pinning }: RegistrationScopeInput): ScopeOf {
  return (sourceId) => {
    const fillIn = createFillIn({ secrets, sourceId, allowedNames, environment: process.env, declared: {} });
    return {
      allowedMounts,
      pinning,
      lookUp,
      checkLiteral: egress.checkLiteral,
      checkAddress: egress.checkAddress,
      readManifest,
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

import { CribError } from '../model/crib-error.ts';
import type { Secret } from './secret.ts';
import type { SecretStore } from './secret-store.ts';

/** Secrets as they were when something was opened with them. */
export interface UsedSecrets extends Pick<SecretStore, 'get'> {
  /** The names of those that have another value by now, or none, or have come to be. */
  changed(): Promise<string[]>;
}

/** Notes which secrets are asked for, and what they were. */
export function createUsedSecrets(secrets: Pick<SecretStore, 'get'>): UsedSecrets {
  const used = new Map<string, Secret | undefined>();

  async function current(name: string, last: Secret | undefined): Promise<Secret | undefined> {
    try {
      return await secrets.get(name);
    } catch (error) {
      // One that does not open has no new value.
      if (error instanceof CribError) return last;
      throw error;
    }
  }

  return {
    async get(name) {
      const secret = await secrets.get(name);
      used.set(name, secret);
      return secret;
    },
    async changed() {
      const names: string[] = [];
      for (const [name, secret] of used) if ((await current(name, secret))?.reveal() !== secret?.reveal()) names.push(name);
      return names;
    },
  };
}

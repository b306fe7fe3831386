import { secretNameSchema } from '../secrets/secret-name.ts';
import { UsageError } from '../model/usage-error.ts';

/** The name on the command line, which becomes a part of an address. */
export function checkedSecretName(name: string | undefined): string {
  const parsed = secretNameSchema.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new UsageError(`${JSON.stringify(name)} cannot be the name of a secret. ${parsed.error.issues[0]?.message}`, { field: 'name' });
}

import { z } from 'zod';

/** What a registry said of a server; null where none was asked, or a newer server says it otherwise. */
export const registeredSchema = z
  .looseObject({ registry: z.string(), name: z.string(), version: z.string(), deprecated: z.boolean() })
  .nullish()
  .catch(null);

/** What a server is in its registry. */
export function describeRegistry({ registry, name, version, deprecated }: NonNullable<z.infer<typeof registeredSchema>>): string {
  const advice = deprecated ? ' (its publisher advises against using it)' : '';
  return `${name}${version === '' ? '' : ` ${version}`} at ${registry}${advice}`;
}

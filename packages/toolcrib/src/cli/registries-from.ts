import { publicRegistries, type Registries } from '../sources/mcp/registry/registry-lookup.ts';
import type { Given } from './given.ts';
import type { ServeOption } from './serve-options.ts';
import { UsageError } from '../model/usage-error.ts';

/** [SRC-2] Where descriptions of servers are looked up. */
export function registriesFrom(given: Given<ServeOption>): Registries {
  return { official: addressFrom(given, 'registry'), smithery: addressFrom(given, 'smithery-registry') };
}

function addressFrom(given: Given<ServeOption>, name: 'registry' | 'smithery-registry'): string | null {
  const text = given.required(name);
  if (text === 'off') return null;
  const url = URL.parse(text);
  // A token belongs in a secret, so the address may contain none.
  if (url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash)
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  const usual = publicRegistries[name === 'registry' ? 'official' : 'smithery'];
  throw new UsageError(`${given.origin(name) ?? `--${name}`} must be an address such as ${usual}, or off`, { field: name });
}

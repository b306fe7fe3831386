import type { McpRegistrationInput } from '../registration/forms.ts';
import { UsageError } from '../../../model/usage-error.ts';

/** A server that the gateway looks up in a registry. */
export interface RegistryTarget {
  kind: 'registry';
  name: string;
  source: NonNullable<McpRegistrationInput['source']>;
}

/** [SRC-2] `registry:io.github.owner/name@1.2.3`, or `smithery:owner/name`; undefined where it is something else. */
export function registryTarget(written: string, version: string | undefined): RegistryTarget | undefined {
  const [, registry, rest = ''] = /^(registry|smithery):(.*)$/s.exec(written) ?? [];
  if (registry === undefined) return undefined;
  if (registry === 'smithery') {
    if (version !== undefined)
      throw new UsageError('--version is not for a server from Smithery, which has no versions', { field: 'version' });
    return { kind: 'registry', name: rest, source: { Smithery: { qualified_name: rest } } };
  }
  const [, name = rest, behind] = /^(.+?)@([^@]+)$/.exec(rest) ?? [];
  if (behind !== undefined && version !== undefined)
    throw new UsageError('The version is given twice: after the name and by --version', { field: 'version' });
  return { kind: 'registry', name, source: { Official: { name, version: behind ?? version ?? 'latest' } } };
}

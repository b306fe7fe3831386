import type { LookedUp } from '../../../model/looked-up.ts';
import { lookedUpManifest } from './looked-up-manifest.ts';
import type { ManifestVariable } from './manifest-model.ts';
import type { ReadPackage, ReadPackageSpec } from './read-package.ts';

/** [SRC-10] The variables and headers that a registry declares for a package given by hand; none if it describes another package. */
export function declaredFor(
  lookedUp: LookedUp | undefined,
  { package: given, transport, field }: ReadPackage,
): { variables: ManifestVariable[]; headers: ManifestVariable[] } {
  if (lookedUp === undefined || given === undefined) return { variables: [], headers: [] };
  const { packages, remotes } = lookedUpManifest(lookedUp, field('source'));
  const found = packages.find((one) => one.package?.type === given.type && nameOf(one.package) === nameOf(given));
  const remote = remotes.find(({ url }) => given.type === 'http' && transport?.type === 'http' && transport.url === url);
  return { variables: found?.variables ?? [], headers: remote?.headers ?? [] };
}

/** The name without the version, which may differ. */
function nameOf({ type, identifier }: Pick<ReadPackageSpec, 'type' | 'identifier'>): string {
  if (type === 'docker') return identifier.replace(/^docker\.io\//, '').replace(/[:@][^/]*$/, '');
  return type === 'pypi' ? identifier.replace(/[[@=<>~!].*$/, '').toLowerCase() : identifier.replace(/(?<=.)@.*$/, '');
}

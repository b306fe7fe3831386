import type { NotePart } from './checked-command.ts';
import { invalid } from '../../registration/invalid.ts';

export interface PackageRules {
  field: string;
  /** Allows packages from a URL, a repository or a file, not only from the registry. */
  allowRisky: boolean;
  note?: NotePart;
}

/** `name` or `@scope/name`, then perhaps `@` and a version, range or tag. */
const npmSpec = /^(?:@[a-z0-9~][a-z0-9._~-]{0,213}\/)?[a-z0-9~][a-z0-9._~-]{0,213}(?:@[a-z0-9._^~*+<>=-]{1,100})?$/i;

/** `name`, perhaps with `[extras]`, then perhaps `@version`, or specifiers such as `>=1,<2` (PEP 508). */
const pypiSpec =
  /^[a-z0-9](?:[a-z0-9._-]{0,200}[a-z0-9])?(?:\[[a-z0-9._,-]{1,200}\])?(?:@[a-z0-9._+!-]{1,100}|[<>=!~][a-z0-9._+!<>=~*,-]{1,200})?$/i;

/** npm and uv take names with these endings for files on this machine. */
const archive = /\.(?:tgz|tar|tar\.\w{1,4}|zip|whl)$/i;

/** Refuses anything but the name of a package in the npm registry, unless `allowRisky`. Returns the name without its version. */
export function checkNpmSpec(spec: string, rules: PackageRules): string {
  const plain = npmSpec.test(spec) && !archive.test(spec);
  if (!plain) return riskySpec(spec, 'npm', rules);
  const at = spec.indexOf('@', 1);
  const name = at < 0 ? spec : spec.slice(0, at);
  rules.note?.({ kind: 'package', registry: 'npm', name, version: at < 0 ? null : spec.slice(at + 1) });
  return name;
}

/** Refuses anything but the name of a package in the Python package index, unless `allowRisky`. Returns the name without its version. */
export function checkPypiSpec(spec: string, rules: PackageRules): string {
  const plain = pypiSpec.test(spec) && !archive.test(spec);
  if (!plain) return riskySpec(spec, 'PyPI', rules);
  const [, name = spec, version = ''] = /^([a-z0-9._-]+)(?:\[[^\]]*\])?(.*)$/i.exec(spec) ?? [];
  rules.note?.({ kind: 'package', registry: 'pypi', name, version: version === '' ? null : version.replace(/^@/, '') });
  return name;
}

function riskySpec(spec: string, registry: 'npm' | 'PyPI', { field, allowRisky, note }: PackageRules): string {
  if (spec.trim() === '') throw invalid(field, 'Package identifier required');
  if (spec.startsWith('-')) throw invalid(field, `A package identifier cannot begin with a hyphen: ${shorten(spec)}`);
  note?.({ kind: 'package', registry: registry === 'npm' ? 'npm' : 'pypi', name: spec, version: null });
  if (allowRisky) return spec;
  throw invalid(
    field,
    `${shorten(spec)} is not the name of a package on ${registry}. Addresses, repositories and files are refused unless the operator allows them`,
  );
}

/** The name of an image, perhaps with a registry before it and a tag or a digest after it. */
export function checkImage(image: string, field: string): string {
  if (/^[a-z0-9][a-z0-9._/:-]{0,400}(?:@sha256:[a-f0-9]{64})?$/i.test(image) && !image.includes('//') && !image.endsWith('/')) return image;
  if (image.trim() === '') throw invalid(field, 'Package identifier required');
  throw invalid(field, `${shorten(image)} is not the name of a container image, such as ghcr.io/owner/image:tag`);
}

/** Quotes text from a request, shortened to fit into a message. */
export function shorten(text: string): string {
  const quoted = JSON.stringify(text);
  return quoted.length <= 100 ? quoted : `${quoted.slice(0, 97)}…"`;
}

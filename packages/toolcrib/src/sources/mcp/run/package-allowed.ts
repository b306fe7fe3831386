import { readPackageRule } from '../../../model/run-rules.ts';
import { versionRule } from '../../../model/version-rule.ts';
import { matchesGlob } from './glob.ts';

export interface WantedPackage {
  registry: 'npm' | 'pypi';
  name: string;
  /** As written after the name; may be a range or a tag. */
  version: string | null;
}

/** Whether a rule such as `npm:@acme/*@^1.2` allows a package. A rule with a version only allows packages with an exact one. */
export function isPackageAllowed(rules: readonly string[], wanted: WantedPackage): boolean {
  const name = plainName(wanted.registry, wanted.name);
  const exact = exactVersion(wanted);
  return rules.some((text) => {
    const rule = readPackageRule(text);
    if (rule?.registry !== wanted.registry || !matchesGlob(plainName(rule.registry, rule.name), name)) return false;
    return rule.version === null || (exact !== undefined && versionRule(rule.version)?.(exact) === true);
  });
}

/** To the Python package index `My_Server` and `my-server` are the same. */
function plainName(registry: 'npm' | 'pypi', name: string): string {
  return registry === 'npm' ? name : name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

/** A tag or a range lets the registry choose the version, which nobody has checked. */
function exactVersion({ registry, version }: WantedPackage): string | undefined {
  if (version === null) return undefined;
  // To npm `1.2` is a range; to uv it is the version 1.2.0.
  if (registry === 'npm') return /^v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(version) ? version : undefined;
  const [, exact] = /^(?:={2,3})?(\d[\w.+!-]*)$/.exec(version) ?? [];
  return exact;
}

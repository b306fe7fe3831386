import type { Variable } from '../../../model/source-definition.ts';
import type { Runtime } from './runtime.ts';

/** A value that a manifest leaves open, or partly open. */
export interface ManifestInput {
  description: string;
  required: boolean;
  secret: boolean;
  /** Fixed by the manifest; `{name}` in it stands for one of `variables`. */
  value?: string;
  default?: string;
  choices?: string[];
  variables: Record<string, ManifestInput>;
}

/** An argument, in the order of the command line. */
export interface ManifestArgument extends ManifestInput {
  /** The flag, with its hyphens; null for a positional argument. */
  flag: string | null;
  /** The name of the value in `config`. */
  slot: string;
  /** A flag that never has a value. */
  constant: boolean;
}

export interface ManifestVariable extends ManifestInput {
  name: string;
}

/** How one package of a manifest is started. */
export interface ManifestPackage {
  /** The path of the package in the manifest, such as `packages[0]`. */
  field: string;
  transport: 'stdio' | 'sse' | 'streamable_http';
  runtime: Runtime | null;
  /** A package of a registry, or an image; null if the manifest gives a command. */
  package: { type: 'npm' | 'pypi' | 'docker'; identifier: string; version: string | undefined } | null;
  command: string[];
  runtimeArguments: ManifestArgument[];
  arguments: ManifestArgument[];
  variables: ManifestVariable[];
}

export interface ManifestRemote {
  field: string;
  transport: 'sse' | 'streamable_http';
  url: string;
  variables: Record<string, ManifestInput>;
  headers: ManifestVariable[];
}

/** [SRC-7] A manifest of either kind, as registration reads it. */
export interface Manifest {
  path: string;
  name: string;
  version: string;
  description: string;
  packages: ManifestPackage[];
  remotes: ManifestRemote[];
  /** Packages that cannot be started here, and why. */
  unsupported: string[];
}

/** The variable as a definition keeps it. */
export function declared({ name, description, required, secret }: ManifestVariable): Variable {
  return { name, description, required, secret };
}

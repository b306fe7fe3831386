import { z } from 'zod';
import { variableSchema } from '../../../model/source-definition.ts';
import type { Manifest, ManifestPackage } from './manifest-model.ts';
import { runtimeHintSchema } from './package-form.ts';

const packageSchema = z.strictObject({
  name: z.string().max(200).default('default'),
  description: z.string().max(4000).optional(),
  version: z.string().max(200).optional(),
  transport_type: z.enum(['stdio', 'sse', 'streamable_http']).default('stdio'),
  runtime: runtimeHintSchema.nullish(),
  command: z.array(z.string().max(32_768)).min(1).max(400),
  environment_variables: z.array(variableSchema).max(500).default([]),
});

/** Others write manifests, which may have more fields than we read. Packages start processes, so unknown fields in them are refused. */
export const ownManifestSchema = z.object({
  name: z.string().min(1).max(500),
  version: z.string().max(200).default(''),
  description: z.string().max(4000).default(''),
  packages: z.array(packageSchema).min(1).max(50),
});

/** [SRC-7] Our own form of a manifest, which gives the command itself. */
export function fromOwnManifest(path: string, { name, version, description, packages }: z.infer<typeof ownManifestSchema>): Manifest {
  return { path, name, version, description, packages: packages.map(toPackage), remotes: [], unsupported: [] };
}

function toPackage(found: z.infer<typeof packageSchema>, index: number): ManifestPackage {
  return {
    field: `packages[${index}]`,
    transport: found.transport_type,
    runtime: found.runtime ?? null,
    package: null,
    command: found.command,
    runtimeArguments: [],
    arguments: [],
    variables: found.environment_variables.map((variable) => ({ ...variable, variables: {} })),
  };
}

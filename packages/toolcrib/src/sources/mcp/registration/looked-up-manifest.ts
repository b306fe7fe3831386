import type { LookedUp } from '../../../model/looked-up.ts';
import type { Manifest } from './manifest-model.ts';
import { refuseReferences } from './refuse-references.ts';
import { fromRegistryManifest } from './registry-manifest.ts';
import { registryManifestSchema } from './registry-schema.ts';

/** [SRC-2] A registry's description of a server, read like any other manifest. `field` is the request field that names the server. */
export function lookedUpManifest({ server, registry }: LookedUp, field: string): Manifest {
  refuseReferences(server, { name: `The description at ${registry}`, field });
  return fromRegistryManifest(registry, registryManifestSchema.parse(server));
}

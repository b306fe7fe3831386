import type { LookedUp } from '../../../model/looked-up.ts';
import type { Manifest } from './manifest-model.ts';
import { refuseReferences } from './refuse-references.ts';
import { fromRegistryManifest } from './registry-manifest.ts';
import { registryManifestSchema } from './registry-schema.ts';

/** [SRC-2] What a registry said of a server, as any other manifest is read. `field` is where the server was named. */
export function lookedUpManifest({ server, registry }: LookedUp, field: string): Manifest {
  refuseReferences(server, { name: `The description at ${registry}`, field });
  return fromRegistryManifest(registry, registryManifestSchema.parse(server));
}

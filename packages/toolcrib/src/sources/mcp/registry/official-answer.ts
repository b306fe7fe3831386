import { z } from 'zod';
import { registryManifestSchema, withCurrentNames, type RegistryManifest } from '../registration/registry-schema.ts';

const ofRegistry = 'io.modelcontextprotocol.registry/official';

/** A response of the official registry's API v0.1. It has more fields than we read, and gets new ones. */
const answerSchema = z.object({
  server: z
    .unknown()
    .transform((server) => withCurrentNames(server))
    .pipe(registryManifestSchema),
  _meta: z.object({ [ofRegistry]: z.object({ status: z.string().max(100).optional() }).optional() }).optional(),
});

export interface RegistryAnswer {
  server: RegistryManifest;
  /** `deleted`: the version must not be used any more; `deprecated`: its publisher advises against it. */
  status: string | undefined;
}

export function readOfficialAnswer(value: unknown): RegistryAnswer {
  const { server, _meta } = answerSchema.parse(value);
  return { server, status: _meta?.[ofRegistry]?.status };
}

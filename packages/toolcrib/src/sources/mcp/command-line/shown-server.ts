import { z } from 'zod';

const containerSchema = z.looseObject({
  name: z.string().nullable().catch(null),
  image: z.string().nullable().catch(null),
  workdir: z.string().nullable().catch(null),
  user: z.string().nullable().catch(null),
  settings: z.looseObject({
    limits: z.looseObject({ memory_mb: z.number(), cpus: z.number(), pids: z.number() }),
    network: z.string(),
    read_only: z.boolean(),
    mounts: z.array(z.looseObject({ source: z.string(), target: z.string(), read_only: z.boolean() })),
  }),
});

/** The registry's description of a server; null if there was no lookup. */
const registeredSchema = z
  .looseObject({ registry: z.string(), name: z.string(), version: z.string(), deprecated: z.boolean() })
  .nullish()
  .catch(null);

/** The definition of an MCP server as the API shows it, of which a newer server may show other parts. */
export const shownServerSchema = z.looseObject({
  lifecycle_mode: z.string().catch(''),
  standby: z.number().catch(0),
  command: z.array(z.string()).catch([]),
  cwd: z.string().nullable().catch(null),
  container: containerSchema.nullable().catch(null),
  process_limits: z.record(z.string(), z.number()).catch({}),
  server_url: z.string().nullable().catch(null),
  looked_up: registeredSchema,
  env_definitions: z.array(z.looseObject({ name: z.string(), secret: z.boolean() })).catch([]),
});

export type ShownContainer = z.infer<typeof containerSchema>;
export type ShownServer = z.infer<typeof shownServerSchema>;

/** The name and version of a server in its registry, with a warning if it is deprecated. */
export function describeRegistry({ registry, name, version, deprecated }: NonNullable<ShownServer['looked_up']>): string {
  const advice = deprecated ? ' (its publisher advises against using it)' : '';
  return `${name}${version === '' ? '' : ` ${version}`} at ${registry}${advice}`;
}

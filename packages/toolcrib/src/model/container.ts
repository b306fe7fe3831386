import { z } from 'zod';

/** Below this many processes and threads a Node program crashes or hangs instead of saying what it lacks. */
export const fewestPids = 32;

const pathInside = z
  .string()
  .max(4096)
  .regex(/^\/[^\0]*$/, 'A path inside the container begins with /');

/** What one container may use of the machine. */
const containerLimitsSchema = z.strictObject({
  memory_mb: z.int().min(16).max(1_048_576).describe('Memory in MiB; swap is not added to it').default(512),
  cpus: z.number().min(0.05).max(512).describe('Processors, 0.5 being half of one').default(1),
  pids: z.int().min(fewestPids).max(1_000_000).describe('Processes and threads').default(256),
});

const containerMountSchema = z.strictObject({
  source: z.string().min(1).max(4096).describe('A directory of the host that the operator allows, or the name of a volume'),
  target: pathInside.describe('Its path inside the container'),
  read_only: z.boolean().default(true),
});
export type ContainerMount = z.infer<typeof containerMountSchema>;

/** How a container is made. The default of every field is the safe choice. */
export const containerSettingsSchema = z.strictObject({
  limits: containerLimitsSchema.prefault({}),
  network: z
    .string()
    .regex(/^[a-z0-9][\w.-]{0,127}$/i, 'The name of a network')
    .describe('none (default) leaves it without any; bridge, or the name of a network')
    .default('none'),
  read_only: z.boolean().describe('Whether its root file system can only be read').default(true),
  tmpfs: z.array(pathInside).max(20).describe('Directories in memory that can be written to').default(['/tmp']),
  mounts: z.array(containerMountSchema).max(50).default([]),
  pull: z
    .enum(['missing', 'always', 'never'])
    .describe(
      'missing (default) fetches an image that is not here; always asks for a newer one whenever the source is started; never fetches none',
    )
    .default('missing'),
});
export type ContainerSettings = z.infer<typeof containerSettingsSchema>;

/** The user and the folder a program starts with inside a container. */
export const containerPlaceSchema = z.strictObject({
  workdir: pathInside.nullable().default(null),
  user: z
    .string()
    .regex(/^[\w.-]{1,64}(?::[\w.-]{1,64})?$/, 'A user, or user:group, by name or number')
    .nullable()
    .default(null),
});

/** [SRC-3] Where a server that is started by `docker exec` lives: in a container that is there already, or in one that is made for it. */
export const containerSchema = z.strictObject({
  ...containerPlaceSchema.shape,
  /** The name or id of a container that somebody else runs; null where one is made from `image`. */
  name: z.string().max(255).nullable().default(null),
  image: z.string().max(500).nullable().default(null),
  /** Means nothing where the container is somebody else's. */
  settings: containerSettingsSchema.prefault({}),
});
export type Container = z.infer<typeof containerSchema>;

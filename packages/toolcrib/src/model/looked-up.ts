import { z } from 'zod';

/** [SRC-2] What a registry said of a server when it was registered. It is kept, so that nothing has to be looked up again. */
export const lookedUpSchema = z.strictObject({
  /** The address of the registry. */
  registry: z.string().max(2048),
  name: z.string().max(500),
  /** The exact one, also where the latest was asked for; empty where the registry has none. */
  version: z.string().max(255),
  /** Whether its publisher advises against it. */
  deprecated: z.boolean().default(false),
  /** Its description, in the form of `server.json`. */
  server: z.json(),
});
export type LookedUp = z.infer<typeof lookedUpSchema>;

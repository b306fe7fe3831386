import { z } from 'zod';

/** [SRC-6] What keeps something as it is: a configuration file, development, or nobody but the administrators. */
export const managedBySchema = z
  .enum(['file', 'development'])
  .nullable()
  .describe(
    '`file` for what a configuration file made, which also deletes it when it is no longer in the file; `development` for a policy that was last saved without an issuer, and grants nothing where there is one; null otherwise',
  );
export type ManagedBy = z.infer<typeof managedBySchema>;

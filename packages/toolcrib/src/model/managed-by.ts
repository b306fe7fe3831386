import { z } from 'zod';

/** [SRC-6] What keeps something as it is: a configuration file, or nobody but the administrators. */
export const managedBySchema = z
  .literal('file')
  .nullable()
  .describe('`file` for what a configuration file made, which also deletes it when it is no longer in the file; null otherwise');
export type ManagedBy = z.infer<typeof managedBySchema>;

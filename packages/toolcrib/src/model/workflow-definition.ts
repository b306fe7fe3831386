import { z } from 'zod';
import { documentPlaceSchema } from './document-place.ts';
import { sourceDefinitionSchema } from './source-definition.ts';

/** [WF-1] Workflows that an Arazzo document describes. */
export const workflowDefinitionSchema = z.strictObject({
  ...sourceDefinitionSchema.shape,
  document: documentPlaceSchema,
  /** The namespace of the registered source that each of the document's source descriptions means; the one of the same name unless told. */
  sources: z.record(z.string().max(200), z.string().max(32)).default({}),
});
export type WorkflowDefinition = z.infer<typeof workflowDefinitionSchema>;

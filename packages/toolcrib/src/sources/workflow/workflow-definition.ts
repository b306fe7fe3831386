import { z } from 'zod';
import { documentPlaceSchema } from '../../model/document-place.ts';
import { sourceDefinitionSchema } from '../../model/source-definition.ts';

/** [WF-1] Workflows that an Arazzo document describes. */
export const workflowDefinitionSchema = z.strictObject({
  ...sourceDefinitionSchema.shape,
  document: documentPlaceSchema,
  /** The namespace of the registered source for each source description of the document; by default, the source of the same name. */
  sources: z.record(z.string().max(200), z.string().max(32)).default({}),
});
export type WorkflowDefinition = z.infer<typeof workflowDefinitionSchema>;

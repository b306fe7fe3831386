import { mcpDefinitionSchema } from '../../model/mcp-definition.ts';
import { openApiDefinitionSchema } from '../../model/openapi-definition.ts';
import type { DefinedSource } from '../../model/source.ts';
import { workflowDefinitionSchema } from '../../model/workflow-definition.ts';

const schemas = {
  mcp: mcpDefinitionSchema,
  openapi: openApiDefinitionSchema.partial({ document: true }),
  workflow: workflowDefinitionSchema.partial({ document: true }),
};

/** What holds of a source of this type where nothing is said. */
export function emptyDefinition(type: DefinedSource['source_type']): object {
  return schemas[type].parse({});
}

import type { McpDefinition } from '../../model/mcp-definition.ts';
import type { OpenApiDefinition } from '../../model/openapi-definition.ts';
import type { WorkflowDefinition } from '../../model/workflow-definition.ts';
import type { CheckedCommand } from '../mcp/registration/checked-command.ts';

/** [SRC] A registration of whatever form, ready to be saved. */
export interface NormalisedRegistration<Definition> {
  name: string;
  namespace: string;
  enabled: boolean;
  definition: Definition;
  /** Secret values by the variable or place they were taken from; the definition refers to them by `secretName`. */
  secrets: Record<string, string>;
  /** What would be started, which needs the run permission [SEC-2]; null for what is only spoken to. */
  starts: CheckedCommand | null;
  /** Fields of required values that are not there; empty unless this is a preview. */
  missing: string[];
  /** [SRC-5] The text of a document that was pasted; null where it is elsewhere, or stored already. */
  document: string | null;
}

/** The same of a source of any type. */
export type NormalisedSource =
  | ({ source_type: 'mcp' } & NormalisedRegistration<McpDefinition>)
  | ({ source_type: 'openapi' } & NormalisedRegistration<OpenApiDefinition>)
  | ({ source_type: 'workflow' } & NormalisedRegistration<WorkflowDefinition>);

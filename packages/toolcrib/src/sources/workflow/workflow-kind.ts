import { createDocumentKind } from '../documents/document-kind.ts';
import { formerNamespaceFromName, namespaceFromName } from '../registration/namespace.ts';
import type { SourcePorts } from '../source-ports.ts';
import type { SourceKind } from '../source-type.ts';
import type { WorkflowDefinition } from './workflow-definition.ts';

/** [WF-1] Workflows that Arazzo documents describe. The code that reads and runs them is loaded on first use. */
export function openWorkflowKind(ports: SourcePorts): SourceKind<WorkflowDefinition> {
  const { isolation, tools } = ports;
  return createDocumentKind<WorkflowDefinition>({
    ports,
    async importDocument({ definition }, { text, url }, turn) {
      const { importWorkflows } = await import('./import-workflows.ts');
      const { sources: chosen } = definition;
      const sources = (name: string) => {
        if (Object.hasOwn(chosen, name)) return tools.of(chosen[name] ?? '');
        return tools.of(namespaceFromName(name)) ?? tools.of(formerNamespaceFromName(name));
      };
      return importWorkflows({ text, url, sources, isolation, turn });
    },
    // Steps are bound to tools of other sources.
    dependsOnOthers: () => true,
    async openCalls() {
      const { createWorkflowCalls } = await import('./workflow-calls.ts');
      return createWorkflowCalls({ callTool: tools.callStep });
    },
    // A workflow is as healthy as the tools it calls, and their sources have a health of their own.
    hasHealth: false,
  });
}

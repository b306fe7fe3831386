import type { Turn } from '../isolation/isolation.ts';
import type { DocumentSource } from '../model/source.ts';
import { createImportSource, type ImportSourceInput } from '../sources/documents/import-source.ts';
import { createLoadDocument } from '../sources/documents/load-document.ts';
import type { WireLog } from '../sources/mcp/wire-logs.ts';
import type { ImportedDocument } from '../sources/openapi/import-document.ts';
import type { UpstreamsInput } from '../sources/openapi/request/upstreams.ts';
import type { CallTool } from '../sources/workflow/call-tool.ts';
import type { Documents } from '../store/documents.ts';
import type { OpenedCalls } from './document-calls.ts';
import type { DocumentPort } from './supervisor.ts';

interface DocumentPortInput extends Omit<UpstreamsInput, 'source'>, ImportSourceInput {
  wireOf(sourceId: string): WireLog;
  documents: Documents;
  countTools(sourceId: string): number;
  /** [WF-1] Makes the call that a step is, through the executor. */
  callTool: CallTool;
}

interface DocumentParts {
  port: DocumentPort;
  /** [SRC-8] Imports what is not registered, with secrets that are not stored and the text that was pasted. */
  importOnce(source: DocumentSource, given: GivenOnce, turn: Turn): Promise<ImportedDocument>;
}

interface GivenOnce {
  resolving: ReturnType<UpstreamsInput['resolvingFor']>;
  text: string | null;
}

/** All that sources need which documents describe. What they are called and imported with is loaded when there is one. */
export function createDocumentPort(input: DocumentPortInput): DocumentParts {
  const { documents, countTools, callTool } = input;
  const importSource = createImportSource(input);
  return {
    port: {
      documents,
      countTools,
      importSource,
      load: createLoadDocument({ ...input, textOf: ({ id }) => documents.textOf(id) }),
      async openCalls(source): Promise<OpenedCalls> {
        switch (source.source_type) {
          case 'openapi':
            return (await import('../sources/openapi/openapi-calls.ts')).createOpenApiCalls({ ...input, source });
          case 'workflow': {
            const { createWorkflowCalls } = await import('../sources/workflow/workflow-calls.ts');
            const calls = createWorkflowCalls({ callTool });
            return {
              call: async (tool, args, context) => calls.call(tool, args, context),
              endSessionsOf: () => undefined,
              secretsChanged: () => undefined,
              close: () => calls.close(),
            };
          }
        }
      },
    },
    async importOnce(source, { resolving, text }, turn) {
      const load = createLoadDocument({ ...input, resolvingFor: () => resolving, textOf: async () => text ?? undefined });
      return importSource(source, await load(source, turn.signal), turn);
    },
  };
}

import type { Isolation, Turn } from '../../isolation/isolation.ts';
import type { DocumentSource } from '../../model/source.ts';
import { namespaceFromName } from '../registration/namespace.ts';
import type { ImportedDocument } from '../openapi/import-document.ts';
import type { RegisteredSource } from '../workflow/plan/bind-operation.ts';
import type { LoadedDocument } from './load-document.ts';

export type ImportSource = (source: DocumentSource, document: LoadedDocument, turn: Turn) => Promise<ImportedDocument>;

export interface ImportSourceInput {
  isolation: Isolation;
  /** [WF-1] The source that a workflow means by this namespace, with its tools. */
  toolsOf(namespace: string): RegisteredSource | undefined;
}

/** The one place that knows how documents of each type become tools. */
export function createImportSource({ isolation, toolsOf }: ImportSourceInput): ImportSource {
  return async (source, document, turn) => {
    const { text, url } = document;
    switch (source.source_type) {
      // Loaded with the first document: whoever has none need not pay for it.
      case 'openapi': {
        const { importDocument } = await import('../openapi/import-document.ts');
        const { server_url, server_variables, async_poll } = source.definition;
        const { externalRefs, load } = document;
        const servers = { serverUrl: server_url, serverVariables: server_variables };
        const found = await importDocument({ text, url, ...servers, externalRefs, load, asyncPoll: async_poll, isolation, turn });
        // Whoever has chosen need not be told to.
        return hasChosen(source) ? { ...found, report: { ...found.report, advice: null } } : found;
      }
      case 'workflow': {
        const { importWorkflows } = await import('../workflow/import-workflows.ts');
        const meant = source.definition.sources;
        const sources = (name: string) => toolsOf(Object.hasOwn(meant, name) ? (meant[name] ?? '') : namespaceFromName(name));
        return importWorkflows({ text, url, sources, isolation, turn });
      }
    }
  };
}

function hasChosen({ definition: { tools } }: DocumentSource): boolean {
  return tools.include.length + tools.exclude.length > 0;
}

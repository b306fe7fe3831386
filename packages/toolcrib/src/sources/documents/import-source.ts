import type { DocumentSource } from '../../model/source.ts';
import { namespaceFromName } from '../registration/namespace.ts';
import type { ImportedDocument } from '../openapi/import-document.ts';
import type { RegisteredSource } from '../workflow/plan/bind-operation.ts';
import type { LoadedDocument } from './load-document.ts';

export type ImportSource = (source: DocumentSource, document: LoadedDocument, signal: AbortSignal) => Promise<ImportedDocument>;

/** The one place that knows how documents of each type become tools. `toolsOf` gives a source by its namespace. */
export function createImportSource({ toolsOf }: { toolsOf(namespace: string): RegisteredSource | undefined }): ImportSource {
  return async (source, document, signal) => {
    const { text, url } = document;
    switch (source.source_type) {
      // Loaded with the first document: whoever has none need not pay for it.
      case 'openapi': {
        const { importDocument } = await import('../openapi/import-document.ts');
        const { server_url, server_variables, async_poll } = source.definition;
        const { externalRefs, load } = document;
        const servers = { serverUrl: server_url, serverVariables: server_variables };
        const found = await importDocument({ text, url, ...servers, externalRefs, load, asyncPoll: async_poll, signal });
        // Whoever has chosen need not be told to.
        return hasChosen(source) ? { ...found, report: { ...found.report, advice: null } } : found;
      }
      case 'workflow': {
        const { importWorkflows } = await import('../workflow/import-workflows.ts');
        const meant = source.definition.sources;
        const sources = (name: string) => toolsOf(Object.hasOwn(meant, name) ? (meant[name] ?? '') : namespaceFromName(name));
        return importWorkflows({ text, url, sources, signal });
      }
    }
  };
}

function hasChosen({ definition: { tools } }: DocumentSource): boolean {
  return tools.include.length + tools.exclude.length > 0;
}

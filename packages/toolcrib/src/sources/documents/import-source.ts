import type { Isolation, Turn } from '../../isolation/isolation.ts';
import { CribError } from '../../model/crib-error.ts';
import type { ImportReport } from '../../model/import-report.ts';
import type { DocumentSource } from '../../model/source.ts';
import type { Egress } from '../../net/egress.ts';
import { formerNamespaceFromName, namespaceFromName } from '../registration/namespace.ts';
import type { ImportedDocument } from '../openapi/import-document.ts';
import type { RegisteredSource } from '../workflow/plan/bind-operation.ts';
import type { LoadedDocument } from './load-document.ts';
import { pinOrigins } from './pin-origins.ts';

export type ImportSource = (source: DocumentSource, document: LoadedDocument, turn: Turn) => Promise<ImportedDocument>;

export interface ImportSourceInput {
  egress: Egress;
  isolation: Isolation;
  /** [WF-1] The source that a workflow means by this namespace, with its tools. */
  toolsOf(namespace: string): RegisteredSource | undefined;
}

/** The one place that knows how documents of each type become tools. */
export function createImportSource({ egress, isolation, toolsOf }: ImportSourceInput): ImportSource {
  return async (source, document, turn) => {
    const { text, url } = document;
    switch (source.source_type) {
      // Loaded with the first document: whoever has none need not pay for it.
      case 'openapi': {
        const { importDocument } = await import('../openapi/import-document.ts');
        const { server_url, server_variables, async_poll, origins } = source.definition;
        const { externalRefs, load } = document;
        const servers = { serverUrl: server_url, serverVariables: server_variables };
        const names = [source.name, source.namespace];
        const found = await importDocument({ text, url, names, ...servers, externalRefs, load, asyncPoll: async_poll, isolation, turn });
        const { report } = found;
        const isConfirmed = server_url === null && origins.length > 0;
        const { tools, skipped } = pinOrigins(found.tools, isConfirmed ? origins : null);
        return {
          ...found,
          tools,
          report: {
            ...report,
            tools: tools.length,
            skipped: [...skipped, ...report.skipped],
            warnings: [...unreachable(report.servers, egress), ...report.warnings],
            // Whoever has chosen need not be told to.
            advice: hasChosen(source) ? null : report.advice,
          },
        };
      }
      case 'workflow': {
        const { importWorkflows } = await import('../workflow/import-workflows.ts');
        const meant = source.definition.sources;
        const sources = (name: string) => {
          if (Object.hasOwn(meant, name)) return toolsOf(meant[name] ?? '');
          return toolsOf(namespaceFromName(name)) ?? toolsOf(formerNamespaceFromName(name));
        };
        return importWorkflows({ text, url, sources, isolation, turn });
      }
    }
  };
}

/** [SEC-1] What can be seen without asking anybody: addresses that calls are never, or not here, sent to. */
function unreachable(servers: readonly string[], { checkLiteral }: Pick<Egress, 'checkLiteral'>): ImportReport['warnings'] {
  const origins = new Set(servers.flatMap((server) => URL.parse(server)?.origin ?? []));
  return [...origins].flatMap((origin) => {
    try {
      checkLiteral(new URL(origin));
      return [];
    } catch (error) {
      if (!(error instanceof CribError)) throw error;
      return [{ operation: null, message: `The tools at ${origin} cannot be called: ${error.message}` }];
    }
  });
}

function hasChosen({ definition: { tools } }: DocumentSource): boolean {
  return tools.include.length + tools.exclude.length > 0;
}

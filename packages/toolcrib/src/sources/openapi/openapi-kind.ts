import type { Turn } from '../../isolation/isolation.ts';
import { CribError } from '../../model/crib-error.ts';
import type { ImportReport } from '../../model/import-report.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { Egress } from '../../net/egress.ts';
import { createDocumentKind } from '../documents/document-kind.ts';
import type { ImportedDocument } from '../documents/imported-document.ts';
import type { LoadedDocument } from '../documents/load-document.ts';
import { pinOrigins } from '../documents/pin-origins.ts';
import type { SourcePorts } from '../source-ports.ts';
import type { SourceKind } from '../source-type.ts';
import type { OpenApiDefinition } from './openapi-definition.ts';

type OpenApiSource = DefinedSource<OpenApiDefinition>;

/** [SRC-5] Services described by OpenAPI documents and UTCP manuals. The code that imports and calls them is loaded on first use. */
export function openOpenApiKind(ports: SourcePorts): SourceKind<OpenApiDefinition> {
  const { egress, isolation } = ports;

  async function importDocument(source: OpenApiSource, document: LoadedDocument, turn: Turn): Promise<ImportedDocument> {
    const { importDocument: importNow } = await import('./import-document.ts');
    const { server_url: serverUrl, server_variables: serverVariables, async_poll: asyncPoll, origins } = source.definition;
    const names = [source.name, source.namespace];
    const found = await importNow({ ...document, names, serverUrl, serverVariables, asyncPoll, isolation, turn });
    const isConfirmed = serverUrl === null && origins.length > 0;
    const { tools, skipped } = pinOrigins(found.tools, isConfirmed ? origins : null);
    const { report } = found;
    return {
      ...found,
      tools,
      report: {
        ...report,
        tools: tools.length,
        skipped: [...skipped, ...report.skipped],
        warnings: [...unreachable(report.servers, egress), ...report.warnings],
        // The advice is to filter tools, which this source already does.
        advice: filtersTools(source) ? null : report.advice,
      },
    };
  }

  return createDocumentKind<OpenApiDefinition>({
    ports,
    importDocument,
    dependsOnOthers: ({ external_refs }) => external_refs.length > 0,
    async openCalls(source) {
      const { createOpenApiCalls } = await import('./openapi-calls.ts');
      return createOpenApiCalls({ ...ports.tokens, egress, source, resolvingFor: ports.valuesOf, wireOf: ports.wireLogOf });
    },
    hasHealth: true,
  });
}

/** [SEC-1] Warns of origins that the network rules refuse, as far as that is visible without a DNS lookup. */
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

function filtersTools({ definition: { tools } }: OpenApiSource): boolean {
  return tools.include.length + tools.exclude.length > 0;
}

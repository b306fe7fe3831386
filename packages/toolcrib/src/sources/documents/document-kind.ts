import type { Turn } from '../../isolation/isolation.ts';
import { summariseImport } from '../../model/import-summary.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { OpenSource, SourceHost } from '../open-source.ts';
import type { DocumentDefinition } from '../registration/document-registration.ts';
import type { SourcePorts } from '../source-ports.ts';
import type { Previewed, Trial } from '../source-type.ts';
import type { OpenedCalls } from './document-calls.ts';
import { createDocumentSource } from './document-source.ts';
import { heldOrigins } from './held-origins.ts';
import type { ImportedDocument } from './imported-document.ts';
import { createLoadDocument, type LoadDocument, type LoadedDocument } from './load-document.ts';
import { originsOf } from './pin-origins.ts';

/** The parts in which the kinds of document-based sources differ. */
export interface DocumentKindInput<Definition extends DocumentDefinition> {
  ports: SourcePorts;
  importDocument(source: DefinedSource<Definition>, document: LoadedDocument, turn: Turn): Promise<ImportedDocument>;
  /** Whether an unchanged document may give other tools, because something that it refers to may have changed. */
  dependsOnOthers(definition: Definition): boolean;
  /** Called with the first call. */
  openCalls(source: DefinedSource<Definition>): Promise<OpenedCalls>;
  /** False if calls say nothing about the health of the source. */
  hasHealth: boolean;
  /** Loads the document. By default, loads it from the place in the definition. */
  createLoad?(
    input: Parameters<typeof createLoadDocument>[0],
  ): (source: DefinedSource<Definition>, signal: AbortSignal) => ReturnType<LoadDocument>;
}

/** The common part of all document-based sources: they start nothing on this machine and leave nothing behind. */
export function createDocumentKind<Definition extends DocumentDefinition>(input: DocumentKindInput<Definition>) {
  const { ports } = input;
  const createLoad = input.createLoad ?? createLoadDocument;
  const load = createLoad({
    ...ports.tokens,
    egress: ports.egress,
    resolvingFor: ports.valuesOf,
    textOf: ({ id }) => ports.documents.textOf(id),
  });
  return {
    registrationContext: {},
    checkRun: () => undefined,
    checkSaved: async () => undefined,
    release: async () => undefined,
    open(source: DefinedSource<Definition>, host: SourceHost): OpenSource {
      return createDocumentSource({
        source,
        host,
        documents: ports.documents,
        load: (signal) => load(source, signal),
        importDocument: (document, turn) => input.importDocument(source, document, turn),
        dependsOnOthers: input.dependsOnOthers(source.definition),
        openCalls: () => input.openCalls(source),
        hasHealth: input.hasHealth,
      });
    },
    async preview(source: DefinedSource<Definition>, { values, text, turn, over }: Trial): Promise<Previewed> {
      const loadOnce = createLoad({
        ...ports.tokens,
        egress: ports.egress,
        resolvingFor: () => values,
        textOf: async () => text ?? undefined,
      });
      const document = await loadOnce(source, over);
      const { title, version, tools, report } = await input.importDocument(source, document, { ...turn, signal: over });
      return {
        tools,
        info: { name: title, version, protocol_version: report.format, instructions: null },
        imported: summariseImport(report),
        error: heldOrigins(source, originsOf(tools)),
      };
    },
  };
}

import type { Turn } from '../../isolation/isolation.ts';
import { CribError } from '../../model/crib-error.ts';
import type { EndSignal } from '../../model/end-signal.ts';
import type { DefinedSource } from '../../model/source.ts';
import { abortable } from '../../resilience/abortable.ts';
import { createDocumentKind } from '../documents/document-kind.ts';
import type { ImportedDocument } from '../documents/imported-document.ts';
import type { LoadedDocument } from '../documents/load-document.ts';
import type { SourcePorts } from '../source-ports.ts';
import type { SourceKind } from '../source-type.ts';
import type { GraphqlDefinition } from './graphql-definition.ts';
import type { SelectableTypes } from './schema/selectable-types.ts';
import { createLoadSchema } from './discovery/load-schema.ts';

type GraphqlSource = DefinedSource<GraphqlDefinition>;

/** The key under which calls queue to have a schema read. */
const callers = 'calls of GraphQL services';

/** GraphQL services. The code that reads and calls them is loaded with the first one. */
export function openGraphqlKind(ports: SourcePorts): SourceKind<GraphqlDefinition> {
  const { egress, isolation } = ports;
  /** By source object, so that a changed definition starts without types. Each import replaces the types of the last. */
  const typesOf = new WeakMap<GraphqlSource, Promise<SelectableTypes | null>>();

  async function imported(source: GraphqlSource, { text }: LoadedDocument, turn: Turn, tools: boolean) {
    const { importSchema } = await import('./import-schema.ts');
    const { server_url: endpoint, selection: limits } = source.definition;
    return importSchema({ text, endpoint, limits, tools, isolation, turn });
  }

  async function importDocument(source: GraphqlSource, document: LoadedDocument, turn: Turn): Promise<ImportedDocument> {
    const { tools, report, types } = await imported(source, document, turn, true);
    if (report === null) throw new CribError('INTERNAL', 'The process that reads the schema returned no report');
    typesOf.set(source, Promise.resolve(types));
    const { tools: choice, server_url: endpoint } = source.definition;
    const hasChosen = choice.include.length + choice.exclude.length > 0;
    // The advice is to filter tools, which this source already does.
    return { title: new URL(endpoint).host, version: '', tools, report: hasChosen ? { ...report, advice: null } : report };
  }

  const load = createLoadSchema({
    ...ports.tokens,
    egress,
    resolvingFor: ports.valuesOf,
    textOf: ({ id }) => ports.documents.textOf(id),
  });

  /** All calls share one reading, so a caller who gives up does not end it for the others. */
  function readTypes(source: GraphqlSource): Promise<SelectableTypes | null> {
    const signal = AbortSignal.timeout(source.definition.resilience.startupTimeoutMs);
    const reading = load(source, signal)
      .then((document) => imported(source, document, { caller: callers, signal }, false))
      .then(({ types }) => types)
      .catch((error: Error) => {
        if (typesOf.get(source) === reading) typesOf.delete(source);
        const message = `The selection cannot be checked, because the schema cannot be read: ${error.message}`;
        throw new CribError('SERVICE_UNAVAILABLE', message, { cause: error });
      });
    typesOf.set(source, reading);
    return reading;
  }

  /** After a restart an unchanged schema is not imported again, so it is read for the first call with a selection. */
  async function typesFor(source: GraphqlSource, signal: EndSignal): Promise<SelectableTypes> {
    const types = await abortable(typesOf.get(source) ?? readTypes(source), signal);
    if (types !== null) return types;
    throw new CribError('VALIDATION_ERROR', 'The schema is too large to check a selection: leave the selection out', {
      origin: 'caller',
    });
  }

  return createDocumentKind<GraphqlDefinition>({
    ports,
    importDocument,
    dependsOnOthers: () => false,
    createLoad: createLoadSchema,
    async openCalls(source) {
      const { createGraphqlCalls } = await import('./graphql-calls.ts');
      return createGraphqlCalls({
        ...ports.tokens,
        egress,
        source,
        resolvingFor: ports.valuesOf,
        wireLog: ports.wireLogOf(source.id),
        typesFor: (signal) => typesFor(source, signal),
      });
    },
    hasHealth: true,
  });
}

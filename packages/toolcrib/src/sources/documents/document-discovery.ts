import { hash } from 'node:crypto';
import { z } from 'zod';
import { importSummarySchema, summariseImport, type ImportSummary } from '../../model/import-summary.ts';
import type { DefinedSource } from '../../model/source.ts';
import type { DocumentDefinition } from '../registration/document-registration.ts';
import type { DiscoveredTool } from '../../model/tool.ts';
import type { ImportDocument } from './imported-document.ts';
import type { LoadedDocument } from './load-document.ts';
import { heldOrigins, statedOrigins } from './held-origins.ts';
import { pinOrigins } from './pin-origins.ts';
import type { SourceInfo } from '../open-source.ts';
import type { DocumentRecord, Documents } from '../../store/documents.ts';
import { importLines } from './import-lines.ts';

/** The importer's version. Increase it when the same document would give other tools than before. */
const importer = 1;

/** Registered sources share one turn, so that the preview of a registration does not wait for all of them. */
const registered = 'registered sources';

const memorySchema = z.strictObject({
  importer: z.literal(importer),
  /** The fingerprint of the definition that the document was imported for. */
  definition: z.string(),
  title: z.string(),
  version: z.string(),
  report: importSummarySchema,
});
type Memory = z.infer<typeof memorySchema>;

export interface DocumentDiscovery {
  /** The document's description of the service. */
  readonly info: SourceInfo | null;
  readonly imported: ImportSummary | null;
  /** Whether tools of the current document are known, not only of one that it replaced. */
  readonly isKnown: boolean;
  /** [SEC-1] The origins that the source's secrets may be sent to. */
  readonly origins: ReadonlySet<string>;
  /** Reads the stored import; needs no network. */
  recall(): Promise<void>;
  /** Resolves when the document's tools are stored. Does nothing if the document has not changed since the last import. */
  discover(signal: AbortSignal): Promise<void>;
}

export interface DocumentDiscoveryInput {
  source: DefinedSource<DocumentDefinition>;
  documents: Pick<Documents, 'get' | 'remember' | 'begin'>;
  load(signal: AbortSignal): Promise<LoadedDocument>;
  importDocument: ImportDocument;
  /** Whether an unchanged document may give other tools, because something that it refers to may have changed. */
  dependsOnOthers: boolean;
  /** Stores the tools. If it rejects, the discovery has failed. */
  onDiscovered(tools: DiscoveredTool[], info: SourceInfo): Promise<void>;
  /** Called with the document's place in the queue: 1 is next, 0 is being read. */
  onPlace(place: number): void;
  note(message: string): void;
}

/** [INV-1] Imports the tools of one source's document. */
export function createDocumentDiscovery(input: DocumentDiscoveryInput): DocumentDiscovery {
  const { source, documents, note } = input;
  const { definition } = source;
  let memory: Memory | null = null;
  let isKnown = false;
  let origins: ReadonlySet<string> = new Set();
  const stated = statedOrigins(source);
  const fingerprint = hash('sha256', JSON.stringify(definition), 'hex');

  async function stored(): Promise<DocumentRecord> {
    const found = await documents.get(source.id);
    if (found === undefined) await documents.begin(source.id, null, source.updated_at);
    const record = found ?? { sha256: null, origins: null, imported: null, updated_at: source.updated_at };
    isKnown = record.imported !== null;
    allow(record.origins);
    memory = memorySchema.safeParse(record.imported).data ?? memory;
    return record;
  }

  /** If the definition states the service's origins, no document can override them. */
  function allow(pinned: readonly string[] | null): void {
    origins = new Set(stated ?? (heldOrigins(source, pinned ?? []) === null ? pinned : []));
  }

  function isUnchanged(record: DocumentRecord, sha256: string): boolean {
    return !input.dependsOnOthers && record.sha256 === sha256 && memory?.definition === fingerprint;
  }

  return {
    get info() {
      if (memory === null) return null;
      const { title, version, report } = memory;
      return { name: title, version, protocol_version: report.format, instructions: null };
    },
    get imported() {
      return memory?.report ?? null;
    },
    get isKnown() {
      return isKnown;
    },
    get origins() {
      return origins;
    },
    async recall() {
      await stored();
    },
    async discover(signal) {
      const document = await input.load(signal);
      const record = await stored();
      const sha256 = hash('sha256', document.text, 'hex');
      if (isUnchanged(record, sha256)) return;
      const found = await input.importDocument(document, { caller: registered, signal, onPlace: input.onPlace });
      const isPinned = stated === undefined;
      const { tools, origins: named, skipped } = pinOrigins(found.tools, isPinned ? record.origins : null);
      const held = heldOrigins(source, named ?? []);
      if (held !== null) throw held;
      const report = { ...found.report, tools: tools.length, skipped: [...skipped, ...found.report.skipped] };
      const { title, version } = found;
      const info = { name: title, version, protocol_version: report.format, instructions: null };
      signal.throwIfAborted();
      await input.onDiscovered(tools, info);
      const imported: Memory = { importer, definition: fingerprint, title, version, report: summariseImport(report) };
      const kept = { sha256, origins: isPinned ? named : null, imported };
      const moments = { since: record.updated_at, definedAt: source.updated_at, now: Date.now() };
      // If another server stored its import first, the origins pinned by that server apply here too.
      if (await documents.remember(source.id, kept, moments)) allow(kept.origins);
      else await stored();
      memory = imported;
      isKnown = true;
      for (const line of importLines(imported.report)) note(line);
    },
  };
}

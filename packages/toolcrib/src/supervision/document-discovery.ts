import { hash } from 'node:crypto';
import { z } from 'zod';
import { importSummarySchema, summariseImport, type ImportSummary } from '../model/import-summary.ts';
import type { DocumentSource } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import type { ImportSource } from '../sources/documents/import-source.ts';
import type { LoadDocument } from '../sources/documents/load-document.ts';
import { heldOrigins, statedOrigins } from '../sources/documents/held-origins.ts';
import { pinOrigins } from '../sources/documents/pin-origins.ts';
import type { McpServerInfo } from '../sources/mcp/mcp-session.ts';
import type { DocumentRecord, Documents } from '../store/documents.ts';
import { importLines } from './import-lines.ts';

/** One more whenever the same document would come to other tools than before. */
const importer = 1;

/** Registered sources share one turn, so that whoever tries a registration does not wait for all of them. */
const registered = 'registered sources';

const memorySchema = z.strictObject({
  importer: z.literal(importer),
  /** Of the definition that it was imported for. */
  definition: z.string(),
  title: z.string(),
  version: z.string(),
  report: importSummarySchema,
});
type Memory = z.infer<typeof memorySchema>;

export interface DocumentDiscovery {
  /** What the document says of the service. */
  readonly info: McpServerInfo | null;
  readonly imported: ImportSummary | null;
  /** Whether tools of this document, and not of one that stood in its place, are known. */
  readonly isKnown: boolean;
  /** [SEC-1] Where the secrets of the source may go. */
  readonly origins: ReadonlySet<string>;
  /** Looks up what is known from before; needs no network. */
  recall(): Promise<void>;
  /** Resolves when what the document has is written. Where nothing has changed since the last time, nothing is done. */
  discover(signal: AbortSignal): Promise<void>;
}

export interface DocumentDiscoveryInput {
  source: DocumentSource;
  documents: Pick<Documents, 'get' | 'remember' | 'begin'>;
  load: LoadDocument;
  importSource: ImportSource;
  /** Writes what was found; its rejection is a failed discovery. */
  onDiscovered(tools: DiscoveredTool[], info: McpServerInfo): Promise<void>;
  /** Told while the document waits for others to be read: 1 is next, 0 is being read. */
  onPlace(place: number): void;
  note(message: string): void;
}

/** [INV-1] Makes tools of the document of one source. */
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

  /** Where the definition itself says where the service is, no document can say otherwise. */
  function allow(pinned: readonly string[] | null): void {
    origins = new Set(stated ?? (heldOrigins(source, pinned ?? []) === null ? pinned : []));
  }

  /** What it refers to may have changed where it has not, and steps are bound to tools of other sources. */
  function isUnchanged(record: DocumentRecord, sha256: string): boolean {
    if (source.source_type !== 'openapi' || source.definition.external_refs.length > 0) return false;
    return record.sha256 === sha256 && memory?.definition === fingerprint;
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
      const document = await input.load(source, signal);
      const record = await stored();
      const sha256 = hash('sha256', document.text, 'hex');
      if (isUnchanged(record, sha256)) return;
      const found = await input.importSource(source, document, { caller: registered, signal, onPlace: input.onPlace });
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
      // Where another server was quicker, what it has pinned holds here too.
      if (await documents.remember(source.id, kept, moments)) allow(kept.origins);
      else await stored();
      memory = imported;
      isKnown = true;
      for (const line of importLines(imported.report)) note(line);
    },
  };
}

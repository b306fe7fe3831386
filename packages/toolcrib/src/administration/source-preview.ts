import { randomUUID } from 'node:crypto';
import { placeInLine } from '../isolation/place-in-line.ts';
import type { Turn } from '../isolation/isolation.ts';
import { toolChoice } from '../inventory/tool-choice.ts';
import type { Counter } from '../inventory/counter.ts';
import { CribError } from '../model/crib-error.ts';
import { summariseImport, type ImportSummary } from '../model/import-summary.ts';
import { TimeoutError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';
import type { DefinedSource, DocumentSource, McpSource } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import { Secret } from '../secrets/secret.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { heldOrigins } from '../sources/documents/held-origins.ts';
import { originsOf } from '../sources/documents/pin-origins.ts';
import type { McpServerInfo } from '../sources/mcp/mcp-session.ts';
import type { ImportedDocument } from '../sources/openapi/import-document.ts';
import type { RunGate } from '../sources/mcp/run/run-gate.ts';
import type { SessionOpener } from '../sources/mcp/session-opener.ts';
import { normaliseSource } from '../sources/registration/normalise-source.ts';
import type { NormalisedSource } from '../sources/registration/normalised-registration.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';
import type { MakeChange } from './change-log.ts';
import { needsRunPermission } from './needs-run-permission.ts';
import type { ScopeOf } from './registration-scope.ts';
import type { RunPermission } from './run-permission.ts';
import { sourceOf } from './source-of.ts';

/** [SRC-8] What a registration would come to. */
export interface SourcePreview {
  name: string;
  namespace: string;
  source: DefinedSource;
  /** What would be started, and the packages, script or image in it; null for a remote server. */
  starts: { runtime: string; runs: string[] } | null;
  /** Fields of required values that are not there. */
  missing: string[];
  /** Null where the server was not asked. */
  tools: DiscoveredTool[] | null;
  server: McpServerInfo | null;
  /** [OAS-1] What became of its document; null where it has none, or it was not looked at. */
  import: ImportSummary | null;
  /** Why it could not be registered, or could not be started. */
  error: CribError | null;
}

export type PreviewSource = (
  actor: Principal,
  form: SourceForm,
  options: { discover: boolean; signal: AbortSignal },
) => Promise<SourcePreview>;

interface SourcePreviewInput {
  counter: Counter;
  secrets: Pick<SecretStore, 'get'>;
  scopeOf: ScopeOf;
  runPermission: RunPermission;
  gate: Pick<RunGate, 'check'>;
  change: MakeChange;
  /** Opens sessions with these secrets, and keeps nothing of what it learns. */
  createOpener(secrets: Pick<SecretStore, 'get'>): SessionOpener;
  /** [SRC-5] The same for a document; `text` is the one that was pasted. */
  importDocument(
    source: DocumentSource,
    given: { secrets: Pick<SecretStore, 'get'>; text: string | null },
    turn: Turn,
  ): Promise<ImportedDocument>;
  /** Told of the source that was only looked at; resolves when nothing that was made for it is left. */
  forgotten(sourceId: string): Promise<void>;
}

/** Tries a registration without saving anything of it. */
export function createSourcePreview(input: SourcePreviewInput): PreviewSource {
  const { counter, secrets, scopeOf, runPermission, gate, change } = input;

  function clash(namespace: string): CribError | null {
    const taken = [...counter.sources.values()].find((source) => source.namespace === namespace);
    if (taken === undefined) return null;
    return new CribError('CONFLICT', `The source ${taken.name} has the namespace ${namespace} already. Choose another`, {
      field: 'namespace',
    });
  }

  /** [LIFE-3] As a transient source is started: spawn, handshake, list, end. */
  async function askServer(source: McpSource, overlaid: Pick<SecretStore, 'get'>, { signal, over }: Signals): Promise<Found> {
    const { definition } = source;
    const session = await input.createOpener(overlaid)(source, signal);
    try {
      const tools = await session.listTools({ signal: over, resources: definition.register_resources_as_tools });
      return { tools: tools.filter(toolChoice(definition.tools)), server: session.info, import: null, error: null };
    } finally {
      await session.close();
    }
  }

  async function readDocument(
    source: DocumentSource,
    given: { secrets: Pick<SecretStore, 'get'>; text: string | null },
    turn: Turn,
  ): Promise<Found> {
    const { title, version, tools, report } = await input.importDocument(source, given, turn);
    const server = { name: title, version, protocol_version: report.format, instructions: null };
    return {
      tools: tools.filter(toolChoice(source.definition.tools)),
      server,
      import: summariseImport(report),
      error: heldOrigins(source, originsOf(tools)),
    };
  }

  async function discover(
    source: DefinedSource,
    { secrets: values, document }: NormalisedSource,
    { caller, signal }: Turn,
  ): Promise<Found> {
    const own = new Map(Object.entries(values).map(([variable, value]) => [sourceSecretName(source.id, variable), new Secret(value)]));
    const overlaid = { get: async (name: string) => own.get(name) ?? secrets.get(name) };
    const { startupTimeoutMs } = source.definition.resilience;
    const deadline = AbortSignal.timeout(startupTimeoutMs);
    const over = AbortSignal.any([signal, deadline]);
    let place = 0;
    const onPlace = (told: number) => (place = told);
    try {
      if (source.source_type === 'mcp') return await askServer(source, overlaid, { signal, over });
      return await readDocument(source, { secrets: overlaid, text: document }, { caller, signal: over, onPlace });
    } catch (error) {
      if (signal.aborted) throw error;
      if (deadline.aborted && !(error instanceof CribError)) {
        const why = place === 0 ? '' : `. ${placeInLine(place)}: try again later`;
        return failed(new TimeoutError(`Its tools were not known within ${startupTimeoutMs} ms${why}`, { cause: error }));
      }
      if (!(error instanceof CribError)) throw error;
      return failed(error);
    } finally {
      await input.forgotten(source.id);
    }
  }

  /** [SEC-2] Why this may not be started here, or not by whoever asks. */
  function runRefusal(actor: Principal, form: SourceForm, normalised: NormalisedSource): CribError | null {
    if (!needsRunPermission(normalised)) return null;
    try {
      runPermission.require(actor, form);
      if (normalised.source_type === 'mcp') gate.check(normalised.definition);
      return null;
    } catch (error) {
      if (error instanceof CribError) return error;
      throw error;
    }
  }

  return async (actor, form, { discover: wanted, signal }) => {
    const id = randomUUID();
    const normalised = await normaliseSource(form, { ...scopeOf(id), preview: true });
    const { name, namespace, starts, missing } = normalised;
    // [SEC-2] Whoever may not register it may not try it either.
    if (wanted && needsRunPermission(normalised)) runPermission.require(actor, form);
    const [field] = missing;
    const unsavable =
      clash(namespace) ??
      (field === undefined ? null : new CribError('VALIDATION_ERROR', 'Missing required credentials', { field })) ??
      runRefusal(actor, form, normalised);
    const now = Date.now();
    const source = sourceOf({ ...normalised, enabled: true }, { id, managed_by: null, created_at: now, updated_at: now });
    // [SEC-4] It is started or connected to, though nothing is saved.
    if (wanted && unsavable === null) {
      const { source_type } = source;
      const how = source_type === 'mcp' ? { transport_type: source.definition.transport_type } : { source_type };
      const after = { name, namespace, ...how, starts };
      await change(actor, { kind: 'source-previewed', topic: 'source', subject: id }, async () => ({ before: null, after }));
    }
    // What could not be saved is not started either.
    const nothing = { tools: null, server: null, import: null, error: unsavable };
    const found = wanted && unsavable === null ? await discover(source, normalised, { caller: actor.key, signal }) : nothing;
    return { name, namespace, source, starts, missing, ...found };
  };
}

interface Signals {
  signal: AbortSignal;
  /** The same, or the time is over. Opening a session has a time of its own. */
  over: AbortSignal;
}

type Found = Pick<SourcePreview, 'tools' | 'server' | 'import' | 'error'>;

function failed(error: CribError): Found {
  return { tools: null, server: null, import: null, error };
}

import { randomUUID } from 'node:crypto';
import { placeInLine } from '../isolation/place-in-line.ts';
import { toolChoice } from '../inventory/tool-choice.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { CribError } from '../model/crib-error.ts';
import type { ImportSummary } from '../model/import-summary.ts';
import { TimeoutError } from '../model/named-errors.ts';
import type { Principal } from '../model/principal.ts';
import type { DefinedSource } from '../model/source.ts';
import type { DiscoveredTool } from '../model/tool.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import { Secret } from '../secrets/secret.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { SourceKinds } from '../sources/open-kinds.ts';
import type { SourceInfo } from '../sources/open-source.ts';
import type { NormalisedRegistration, RunNeed } from '../sources/registration/normalised-registration.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';
import { normaliseSource, runNeedOf, showSource, type NormalisedSource } from '../sources/source-registrations.ts';
import type { Trial } from '../sources/source-type.ts';
import type { MakeChange } from './change-log.ts';
import type { ScopeOf } from './registration-scope.ts';
import type { RunPermission } from './run-permission.ts';

/** [SRC-8] The source that a registration would make. */
export interface SourcePreview {
  name: string;
  namespace: string;
  source: DefinedSource;
  /** The command that would be started, with its packages, script or image; null for a remote server. */
  starts: NormalisedRegistration<unknown>['starts'];
  /** Fields whose required value is missing. */
  missing: string[];
  /** Null if the source was not tried. */
  tools: DiscoveredTool[] | null;
  server: SourceInfo | null;
  /** [OAS-1] The outcome of importing its document; null if it has none, or the document was not read. */
  import: ImportSummary | null;
  /** Why the source could not be registered or started. */
  error: CribError | null;
}

export type PreviewSource = (
  actor: Principal,
  form: SourceForm,
  options: { discover: boolean; signal: AbortSignal },
) => Promise<SourcePreview>;

interface SourcePreviewInput {
  inventory: Inventory;
  secrets: Pick<SecretStore, 'get'>;
  scopeOf: ScopeOf;
  runPermission: RunPermission;
  kinds: SourceKinds;
  change: MakeChange;
  /** Values for a trial of the source, with these secrets, and logs that are discarded. */
  trialOf(sourceId: string, secrets: Pick<SecretStore, 'get'>): Pick<Trial, 'values' | 'log' | 'wireLog'>;
  /** Called when the trial is over, to forget the source. */
  onTried(sourceId: string): void;
}

type Found = Pick<SourcePreview, 'tools' | 'server' | 'import' | 'error'>;

/** Tries a registration without saving it. */
export function createSourcePreview(input: SourcePreviewInput): PreviewSource {
  const { inventory, secrets, scopeOf, runPermission, kinds, change } = input;

  function clash(namespace: string): CribError | null {
    const taken = [...inventory.sources.values()].find((source) => source.namespace === namespace);
    if (taken === undefined) return null;
    return new CribError('CONFLICT', `The source ${taken.name} already has the namespace ${namespace}. Choose another namespace`, {
      field: 'namespace',
    });
  }

  async function discover(source: DefinedSource, made: NormalisedSource, caller: string, signal: AbortSignal): Promise<Found> {
    const { id, definition, source_type } = source;
    const own = new Map(Object.entries(made.secrets).map(([variable, value]) => [sourceSecretName(id, variable), new Secret(value)]));
    const overlaid = { get: async (name: string) => own.get(name) ?? secrets.get(name) };
    const { startupTimeoutMs } = definition.resilience;
    const deadline = AbortSignal.timeout(startupTimeoutMs);
    let place = 0;
    const turn = { caller, signal, onPlace: (position: number) => (place = position) };
    const kind = kinds.of(source_type);
    try {
      const over = AbortSignal.any([signal, deadline]);
      const { tools, info, imported, error } = await kind.preview(source, {
        ...input.trialOf(id, overlaid),
        text: made.document,
        turn,
        over,
      });
      return { tools: tools.filter(toolChoice(definition.tools)), server: info, import: imported, error };
    } catch (error) {
      if (signal.aborted) throw error;
      if (deadline.aborted && !(error instanceof CribError)) {
        const why = place === 0 ? '' : `. ${placeInLine(place)}: try again later`;
        return failed(new TimeoutError(`The source did not list its tools within ${startupTimeoutMs} ms${why}`, { cause: error }));
      }
      if (!(error instanceof CribError)) throw error;
      return failed(error);
    } finally {
      input.onTried(id);
      await kind.release(id);
    }
  }

  /** [SEC-2] Why the command may not be started here, or not by this actor; null if it may. */
  function runRefusal(actor: Principal, need: RunNeed | null, { source_type, definition }: NormalisedSource): CribError | null {
    if (need === null) return null;
    try {
      runPermission.require(actor, need);
      kinds.of(source_type).checkRun(definition);
      return null;
    } catch (error) {
      if (error instanceof CribError) return error;
      throw error;
    }
  }

  return async (actor, form, { discover: wanted, signal }) => {
    const id = randomUUID();
    const normalised = await normaliseSource(form, { ...scopeOf(id, form.source_type), preview: true });
    const { name, namespace, source_type, definition, starts, missing } = normalised;
    const need = runNeedOf(form, normalised);
    // [SEC-2] Trying a source needs the same permission as registering it.
    if (wanted) runPermission.require(actor, need);
    const [field] = missing;
    const unsavable =
      clash(namespace) ??
      (field === undefined ? null : new CribError('VALIDATION_ERROR', 'Missing required credentials', { field })) ??
      runRefusal(actor, need, normalised);
    const now = Date.now();
    const stamp = { managed_by: null, created_at: now, updated_at: now };
    const source: DefinedSource = { id, name, namespace, enabled: true, source_type, definition, ...stamp };
    // A source that could not be saved is not started.
    const isTried = wanted && unsavable === null;
    // [SEC-4] A trial is recorded although nothing is saved: it starts or connects to the source.
    if (isTried) await change(actor, { kind: 'source-previewed', topic: 'source', subject: id }, async () => recorded(source, starts));
    const nothing = { tools: null, server: null, import: null, error: unsavable };
    const found = isTried ? await discover(source, normalised, actor.key, signal) : nothing;
    return { name, namespace, source, starts, missing, ...found };
  };
}

/** The record of a trial: names the transport if the kind of source has several. */
function recorded(source: DefinedSource, starts: SourcePreview['starts']) {
  const { name, namespace, source_type } = source;
  const shown = showSource(source);
  const how = 'transport_type' in shown ? { transport_type: shown.transport_type } : { source_type };
  return { before: null, after: { name, namespace, ...how, starts } };
}

function failed(error: CribError): Found {
  return { tools: null, server: null, import: null, error };
}

import { randomUUID } from 'node:crypto';
import type { Counter } from '../inventory/counter.ts';
import type { Container } from '../model/container.ts';
import { CribError } from '../model/crib-error.ts';
import type { ManagedBy } from '../model/managed-by.ts';
import type { Principal } from '../model/principal.ts';
import type { DefinedSource, DocumentSource, SourceRecord } from '../model/source.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import type { RunGate } from '../sources/mcp/run/run-gate.ts';
import { asGiven } from '../sources/registration/as-given.ts';
import { hasMoved } from '../sources/registration/has-moved.ts';
import { mergeSource } from '../sources/registration/merge-source.ts';
import { normaliseSource } from '../sources/registration/normalise-source.ts';
import { showSource } from '../sources/registration/show-source.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';
import type { Store, StoreNouns } from '../store/store.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { MakeChange } from './change-log.ts';
import { isUnchanged } from './is-unchanged.ts';
import { laterThan } from './later-than.ts';
import { needsRunPermission } from './needs-run-permission.ts';
import { refuseOvertaken, type Seen } from './refuse-overtaken.ts';
import type { ScopeOf } from './registration-scope.ts';
import { Overtaken, retryOvertaken } from './retry-overtaken.ts';
import type { RunPermission } from './run-permission.ts';
import { sourceOf } from './source-of.ts';

export interface SourceAdministration {
  /** [SRC-9] Saved and being started; a start that fails leaves it there with its error. */
  register(actor: Principal, form: SourceForm, managed?: Management): Promise<SourceRecord>;
  replace(actor: Principal, id: string, form: SourceForm, managed?: Management & Seen): Promise<SourceRecord>;
  delete(actor: Principal, id: string, options?: Seen): Promise<void>;
  /** [LIFE-7] A source that cannot be started is not enabled either. */
  setEnabled(actor: Principal, id: string, enabled: boolean): Promise<SourceRecord>;
  /** [SEC-4] Nothing about the source is changed, but everybody who uses it notices: it is on record. */
  operate(actor: Principal, id: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
}

/** [SRC-6] Who keeps it so from now on; as it was where it is left out. */
interface Management {
  managed_by?: ManagedBy;
}

interface SavedAs extends Management, Seen {
  /** Of the source that is replaced. */
  replaced?: string;
}

interface SourceAdministrationInput {
  store: Store;
  counter: Counter;
  supervisor: Supervisor;
  secrets: SecretStore;
  scopeOf: ScopeOf;
  /** [SEC-2] Wanted of whoever says what is started here. To start or enable what they have said is for every administrator. */
  runPermission: RunPermission;
  gate: Pick<RunGate, 'check'>;
  /** [SRC-3] Refuses a container in which nobody may start servers. */
  checkContainer(container: Container): Promise<void>;
  change: MakeChange;
}

export function createSourceAdministration({
  store,
  counter,
  supervisor,
  secrets,
  scopeOf,
  runPermission,
  gate,
  checkContainer,
  change,
}: SourceAdministrationInput): SourceAdministration {
  /**
   * The source and the secrets that were taken out of its form, written together. What the form comes to cannot be found out within the
   * transaction, where nothing but the database may be waited for, so it is found out again where the source has changed meanwhile.
   */
  async function save(actor: Principal, kind: string, form: SourceForm, { replaced, managed_by, seen }: SavedAs): Promise<SourceRecord> {
    const id = replaced ?? form.id ?? randomUUID();
    if (form.id !== undefined && form.id !== id) throw new CribError('VALIDATION_ERROR', 'A source keeps its id', { field: 'id' });
    const { source, isSame } = await retryOvertaken(async () => {
      const known = replaced === undefined ? undefined : await existing(store, id);
      const { moved, ...normalised } = await prepare(actor, id, form, known);
      const now = laterThan(known);
      const stored = { id, managed_by: managed_by ?? known?.managed_by ?? null, created_at: known?.created_at ?? now, updated_at: now };
      const made = sourceOf(normalised, { ...stored, registration: asGiven(form, normalised) });
      const isNew = Object.keys(normalised.secrets).length > 0 || normalised.document !== null;
      if (known !== undefined && !isNew && isUnchanged(known, made)) {
        refuseOvertaken(known, { seen });
        return { source: known, isSame: true };
      }
      await change(actor, { kind, topic: 'source', subject: id }, async (tx) => {
        if (known !== undefined) {
          const { updated_at } = await existing(tx, id);
          refuseOvertaken({ updated_at }, { seen });
          if (updated_at !== known.updated_at) throw new Overtaken();
        } else if ((await tx.sources.get(id)) !== undefined) {
          throw new CribError('CONFLICT', 'There is a source with this id already. Replace it, or leave the id out', { field: 'id' });
        }
        await tx.sources.upsert(made);
        const writer = secrets.within(tx);
        if (moved) await writer.deleteOf(id);
        if (made.source_type !== 'mcp') await keepDocument(tx, made, { text: normalised.document, isOther: known === undefined || moved });
        for (const [variable, value] of Object.entries(normalised.secrets)) await writer.put(sourceSecretName(id, variable), value);
        return { before: known === undefined ? null : recorded(known), after: recorded(made) };
      });
      return { source: made, isSame: false };
    });
    if (isSame) return source;
    secrets.forget();
    await adoptCurrent(id);
    if (source.enabled) startInBackground(id);
    return source;
  }

  /** What a form comes to, and whether the source speaks to somebody else by it. Refuses what the actor may not have. */
  async function prepare(actor: Principal, id: string, form: SourceForm, known: DefinedSource | undefined) {
    const scope = { ...scopeOf(id), known };
    let normalised = await normaliseSource(known === undefined ? form : mergeSource(known, form), scope);
    // A secret stays with whom it was given for: somewhere else it has to be given again.
    const moved = known !== undefined && hasMoved(known.definition, normalised.definition);
    if (moved) normalised = await normaliseSource(mergeSource(known, form, { keepSecrets: false }), { ...scope, moved });
    if (needsRunPermission(normalised)) runPermission.require(actor, form);
    if (normalised.source_type === 'mcp') {
      if (normalised.starts !== null) gate.check(normalised.definition);
      if (normalised.definition.container !== null) await checkContainer(normalised.definition.container);
    }
    return { ...normalised, moved };
  }

  /** By now it may be another than the one that was saved a moment ago, or be gone. */
  async function adoptCurrent(id: string): Promise<void> {
    const current = counter.sources.get(id);
    if (current !== undefined) await supervisor.adopt(current);
  }

  /** Its status and its log say how it went. */
  function startInBackground(id: string): void {
    supervisor.start(id).catch(() => undefined);
  }

  async function setEnabled(actor: Principal, id: string, enabled: boolean, options: Seen = {}): Promise<SourceRecord> {
    const kind = enabled ? 'source-enabled' : 'source-disabled';
    let source: SourceRecord | undefined;
    await change(actor, { kind, topic: 'source', subject: id }, async (tx) => {
      const before = await existing(tx, id);
      refuseOvertaken(before, options);
      const after = { ...before, enabled, updated_at: laterThan(before) };
      await tx.sources.upsert(after);
      source = after;
      return { before: recorded(before), after: recorded(after) };
    });
    await adoptCurrent(id);
    return source as SourceRecord;
  }

  return {
    register: (actor, form, managed = {}) => save(actor, 'source-created', form, managed),
    replace: (actor, id, form, options = {}) => save(actor, 'source-changed', form, { ...options, replaced: id }),
    async delete(actor, id, options = {}) {
      await change(actor, { kind: 'source-deleted', topic: 'source', subject: id }, async (tx) => {
        const before = await existing(tx, id);
        refuseOvertaken(before, options);
        await tx.sources.delete(id);
        await secrets.within(tx).deleteOf(id);
        return { before: recorded(before), after: null };
      });
      secrets.forget();
      await supervisor.release(id);
    },
    async operate(actor, id, action) {
      await change(actor, { kind: operated[action], topic: 'source', subject: id }, async (tx) => {
        await existing(tx, id);
        return { before: null, after: null };
      });
      await supervisor[action](id);
    },
    async setEnabled(actor, id, enabled) {
      const source = await setEnabled(actor, id, enabled);
      if (!enabled) return source;
      try {
        await supervisor.start(id);
      } catch (error) {
        // Unless somebody has changed it meanwhile: then it is not this one that failed.
        await setEnabled(actor, id, false, { seen: source.updated_at }).catch(passOverChanged);
        throw error;
      }
      return source;
    },
  };
}

async function existing({ sources }: StoreNouns, id: string): Promise<DefinedSource> {
  const source = await sources.get(id);
  if (source === undefined) throw new CribError('NOT_FOUND', 'There is no such source');
  if (source.source_type === 'builtin') throw new CribError('CONFLICT', 'The built-in tools cannot be changed');
  return source;
}

function passOverChanged(error: unknown): void {
  if (!(error instanceof CribError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND'))) throw error;
}

/** [SEC-4] As the API shows it: what may be a secret in an address or a setting is not for the record either. */
function recorded({ registration: _given, ...source }: DefinedSource): object {
  return { ...source, definition: showSource(source) };
}

/** Of a document that is another one nothing is known: neither what was imported of it, nor where its secrets may go. */
async function keepDocument(
  tx: StoreNouns,
  { id, definition, updated_at }: DocumentSource,
  { text, isOther }: GivenDocument,
): Promise<void> {
  const kept = 'stored' in definition.document ? (text ?? (await tx.documents.textOf(id)) ?? null) : null;
  await (isOther ? tx.documents.begin(id, kept, updated_at) : tx.documents.setText(id, kept));
}

interface GivenDocument {
  /** Null where none was pasted with this change. */
  text: string | null;
  isOther: boolean;
}

const operated = { start: 'source-started', stop: 'source-stopped', restart: 'source-restarted' } as const;

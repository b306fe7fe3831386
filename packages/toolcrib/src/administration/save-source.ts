import { randomUUID } from 'node:crypto';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { SourceDefinition } from '../model/source-definition.ts';
import { isDefined, type DefinedSource } from '../model/source.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import type { SourceKinds } from '../sources/open-kinds.ts';
import type { DocumentDefinition } from '../sources/registration/document-registration.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';
import { asGiven, hasMoved, mergeSource, normaliseSource, runNeedOf, showSource } from '../sources/source-registrations.ts';
import type { Store, StoreNouns } from '../store/store.ts';
import type { MakeChange } from './change-log.ts';
import { isUnchanged } from './is-unchanged.ts';
import { laterThan } from './later-than.ts';
import { refuseOvertaken, type Seen } from './refuse-overtaken.ts';
import type { ScopeOf } from './registration-scope.ts';
import { Overtaken, retryOvertaken } from './retry-overtaken.ts';
import type { RunPermission } from './run-permission.ts';
import type { ManagedBy } from '../model/managed-by.ts';

/** [SRC-6] Who manages the source from now on; unchanged if left out. */
export interface Management {
  managed_by?: ManagedBy;
}

export interface SavedAs extends Management, Seen {
  /** The id of the source to replace. */
  replaced?: string;
}

export interface SaveSourceInput {
  store: Store;
  secrets: SecretStore;
  scopeOf: ScopeOf;
  /** [SEC-2] Required to decide which program a source starts. Any administrator may start or enable the source afterwards. */
  runPermission: RunPermission;
  kinds: SourceKinds;
  change: MakeChange;
}

/** Saves a registration. `isSame`: it equals the stored one, and nothing was written. */
type SaveSource = (actor: Principal, kind: string, form: SourceForm, as: SavedAs) => Promise<{ source: DefinedSource; isSame: boolean }>;

export function createSaveSource({ store, secrets, scopeOf, runPermission, kinds, change }: SaveSourceInput): SaveSource {
  /** Normalises a form, and tells whether the source moves to another server. Throws if the actor may not register it. */
  async function prepare(actor: Principal, id: string, form: SourceForm, known: DefinedSource | undefined) {
    const scope = { ...scopeOf(id, form.source_type), known };
    let normalised = await normaliseSource(known === undefined ? form : mergeSource(known, form), scope);
    // A secret is sent only to the server it was given for: a source that moves needs its secrets again.
    const moved = known !== undefined && hasMoved(known, normalised.definition);
    if (moved) normalised = await normaliseSource(mergeSource(known, form, { keepSecrets: false }), { ...scope, moved });
    runPermission.require(actor, runNeedOf(form, normalised));
    const kind = kinds.of(form.source_type);
    kind.checkRun(normalised.definition);
    await kind.checkSaved(normalised.definition);
    return { ...normalised, moved };
  }

  /**
   * Writes the source together with the secrets from its form. The form is normalised before the transaction, which must wait for nothing
   * but the database, and normalised again if the source has changed meanwhile.
   */
  return async (actor, kind, form, { replaced, managed_by, seen }) => {
    const id = replaced ?? form.id ?? randomUUID();
    if (form.id !== undefined && form.id !== id)
      throw new CribError('VALIDATION_ERROR', 'The id of a source cannot be changed: leave it out', { field: 'id' });
    return retryOvertaken(async () => {
      const known = replaced === undefined ? undefined : await existingSource(store, id);
      const { moved, ...normalised } = await prepare(actor, id, form, known);
      const now = laterThan(known);
      const stored = { id, managed_by: managed_by ?? known?.managed_by ?? null, created_at: known?.created_at ?? now, updated_at: now };
      const { name, namespace, enabled, source_type, definition } = normalised;
      const made = { ...stored, name, namespace, enabled, source_type, definition, registration: asGiven(form, normalised) };
      const isNew = Object.keys(normalised.secrets).length > 0 || normalised.document !== null;
      if (known !== undefined && !isNew && isUnchanged(known, made)) {
        refuseOvertaken(known, { seen });
        return { source: known, isSame: true };
      }
      await change(actor, { kind, topic: 'source', subject: id }, async (tx) => {
        if (known !== undefined) {
          const { updated_at } = await existingSource(tx, id);
          refuseOvertaken({ updated_at }, { seen });
          if (updated_at !== known.updated_at) throw new Overtaken();
        } else if ((await tx.sources.get(id)) !== undefined) {
          throw new CribError('CONFLICT', 'A source with this id already exists. Replace it, or leave the id out', { field: 'id' });
        }
        await tx.sources.upsert(made);
        const writer = secrets.within(tx);
        if (moved) await writer.deleteOf(id);
        await keepDocument(tx, made, { text: normalised.document, isOther: known === undefined || moved });
        for (const [variable, value] of Object.entries(normalised.secrets)) await writer.put(sourceSecretName(id, variable), value);
        return { before: known === undefined ? null : recordedSource(known), after: recordedSource(made) };
      });
      return { source: made, isSame: false };
    });
  };
}

/** The source with this id. Throws if there is none, or if it cannot be changed. */
export async function existingSource({ sources }: StoreNouns, id: string): Promise<DefinedSource> {
  const source = await sources.get(id);
  if (source === undefined) throw new CribError('NOT_FOUND', 'There is no such source');
  if (!isDefined(source)) throw new CribError('CONFLICT', 'The built-in tools cannot be changed');
  return source;
}

/** [SEC-4] As the API shows the source: possible secrets in addresses and settings are hidden from the record too. */
export function recordedSource({ registration: _given, ...source }: DefinedSource): object {
  return { ...source, definition: showSource(source) };
}

/** A different document starts from scratch: the earlier import and the hosts its secrets may be sent to are forgotten. */
async function keepDocument(
  tx: StoreNouns,
  { id, definition, updated_at }: DefinedSource,
  { text, isOther }: GivenDocument,
): Promise<void> {
  if (!hasDocument(definition)) return;
  const kept = 'stored' in definition.document ? (text ?? (await tx.documents.textOf(id)) ?? null) : null;
  await (isOther ? tx.documents.begin(id, kept, updated_at) : tx.documents.setText(id, kept));
}

function hasDocument(definition: SourceDefinition): definition is DocumentDefinition {
  return 'document' in definition;
}

interface GivenDocument {
  /** Null if the change came without a pasted document. */
  text: string | null;
  isOther: boolean;
}

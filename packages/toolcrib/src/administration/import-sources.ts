import { isDeepStrictEqual } from 'node:util';
import type { Inventory } from '../inventory/inventory.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import { isDefined, type DefinedSource, type SourceRecord } from '../model/source.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { parseImport, readImport, type ImportedRegistration } from '../sources/import/read-import.ts';
import { namespaceFromName } from '../sources/registration/namespace.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';
import { sourceFormSchema } from '../sources/source-forms.ts';
import { mergeSource, normaliseSource } from '../sources/source-registrations.ts';
import type { ScopeOf } from './registration-scope.ts';
import type { SourceAdministration } from './sources.ts';

/** The outcome of importing one entry. */
export interface ImportOutcome {
  /** The path of the entry in the imported document. */
  entry: string;
  outcome: 'registered' | 'updated' | 'unchanged' | 'refused';
  source: SourceRecord | null;
  /** Parts of the entry that were ignored or converted. */
  notes: string[];
  /** Why the entry was refused; null otherwise. */
  error: CribError | null;
}

export interface ImportOptions {
  /** The name for a manual, which has none of its own. */
  name?: string | undefined;
  /** Replaces sources that have the same namespace but a different registration. */
  update?: boolean | undefined;
}

/** [SRC-4] Registers the sources in another client's file, a UTCP call template or a UTCP manual, given as text or as parsed JSON. */
export type ImportSources = (actor: Principal, config: unknown, options?: ImportOptions) => Promise<ImportOutcome[]>;

interface ImportSourcesInput {
  inventory: Inventory;
  sources: SourceAdministration;
  scopeOf: ScopeOf;
  secrets: Pick<SecretStore, 'get'>;
}

/** Imports entries one after another, so that the second of two with the same name conflicts. A refused entry does not stop the rest. */
export function createImportSources({ inventory, sources, scopeOf, secrets }: ImportSourcesInput): ImportSources {
  /** Whether the source is registered exactly like this already. Ignores `enabled`: a source disabled by hand stays disabled. */
  async function isSame(known: DefinedSource, form: SourceForm): Promise<boolean> {
    if (known.source_type !== form.source_type || known.name !== form.name) return false;
    const made = await normaliseSource(mergeSource(known, form), { ...scopeOf(known.id, form.source_type), known });
    if (!isDeepStrictEqual(plain(made.definition), plain(known.definition))) return false;
    for (const [variable, value] of Object.entries(made.secrets)) {
      if ((await secrets.get(sourceSecretName(known.id, variable)))?.reveal() !== value) return false;
    }
    return true;
  }

  async function take(actor: Principal, form: SourceForm, update: boolean): Promise<Pick<ImportOutcome, 'outcome' | 'source'>> {
    const namespace = form.namespace ?? namespaceFromName(form.name ?? '');
    const known = [...inventory.sources.values()].find((source) => source.namespace === namespace);
    if (known === undefined) return { outcome: 'registered', source: await sources.register(actor, form) };
    if (isDefined(known) && (await isSame(known, form))) return { outcome: 'unchanged', source: known };
    if (update) return { outcome: 'updated', source: await sources.replace(actor, known.id, form) };
    const message = `A source with the namespace ${namespace} already exists with a different registration. Import with update (--update) to replace it`;
    throw new CribError('CONFLICT', message, { field: 'namespace' });
  }

  async function outcomeOf(actor: Principal, { entry, form, notes }: ImportedRegistration, update: boolean): Promise<ImportOutcome> {
    try {
      return { entry, ...(await take(actor, sourceFormSchema.parse(form), update)), notes, error: null };
    } catch (error) {
      if (!(error instanceof CribError) || error.code === 'INTERNAL') throw error;
      return { entry, outcome: 'refused', source: null, notes, error };
    }
  }

  return async (actor, config, { name, update = false } = {}) => {
    const { registrations, problems } = typeof config === 'string' ? parseImport(config, { name }) : readImport(config, { name });
    const outcomes: ImportOutcome[] = [];
    for (const registration of registrations) outcomes.push(await outcomeOf(actor, registration, update));
    const refused = problems.map(({ entry, message }): ImportOutcome => {
      return { entry, outcome: 'refused', source: null, notes: [], error: new CribError('VALIDATION_ERROR', message) };
    });
    return [...outcomes, ...refused];
  };
}

/** As stored: properties that are undefined are dropped. */
function plain(definition: object): unknown {
  return JSON.parse(JSON.stringify(definition));
}

import { isDeepStrictEqual } from 'node:util';
import type { Counter } from '../inventory/counter.ts';
import { CribError } from '../model/crib-error.ts';
import type { Principal } from '../model/principal.ts';
import type { DefinedSource, SourceRecord } from '../model/source.ts';
import { sourceSecretName } from '../secrets/secret-name.ts';
import type { SecretStore } from '../secrets/secret-store.ts';
import { parseImport, readImport, type ImportedRegistration } from '../sources/import/read-import.ts';
import { mergeSource } from '../sources/registration/merge-source.ts';
import { namespaceFromName } from '../sources/registration/namespace.ts';
import { normaliseSource } from '../sources/registration/normalise-source.ts';
import { sourceFormSchema, type SourceForm } from '../sources/registration/source-form.ts';
import type { ScopeOf } from './registration-scope.ts';
import type { SourceAdministration } from './sources.ts';

/** What became of one entry. */
export interface ImportOutcome {
  /** Where it stands in what was imported. */
  entry: string;
  outcome: 'registered' | 'updated' | 'unchanged' | 'refused';
  source: SourceRecord | null;
  /** Parts of the entry that are not used, or were read as something else. */
  notes: string[];
  /** Why it was refused; null otherwise. */
  error: CribError | null;
}

export interface ImportOptions {
  /** Of a manual, which has no name of its own. */
  name?: string | undefined;
  /** Replaces sources of the same namespace that are registered otherwise. */
  update?: boolean | undefined;
}

/** [SRC-4] Registers whatever a file of another client, a UTCP call template or a manual describes: text, or the JSON itself. */
export type ImportSources = (actor: Principal, config: unknown, options?: ImportOptions) => Promise<ImportOutcome[]>;

interface ImportSourcesInput {
  counter: Counter;
  sources: SourceAdministration;
  scopeOf: ScopeOf;
  secrets: Pick<SecretStore, 'get'>;
}

/** One after the other, so that two of the same name are told apart. A refusal is the outcome of its entry alone. */
export function createImportSources({ counter, sources, scopeOf, secrets }: ImportSourcesInput): ImportSources {
  /** Whether it is there already, just so. What was switched off by hand stays what it is. */
  async function isSame(known: DefinedSource, form: SourceForm): Promise<boolean> {
    if (known.source_type !== form.source_type || known.name !== form.name) return false;
    const made = await normaliseSource(mergeSource(known, form), { ...scopeOf(known.id), known });
    if (!isDeepStrictEqual(plain(made.definition), plain(known.definition))) return false;
    for (const [variable, value] of Object.entries(made.secrets)) {
      if ((await secrets.get(sourceSecretName(known.id, variable)))?.reveal() !== value) return false;
    }
    return true;
  }

  async function take(actor: Principal, form: SourceForm, update: boolean): Promise<Pick<ImportOutcome, 'outcome' | 'source'>> {
    const namespace = form.namespace ?? namespaceFromName(form.name ?? '');
    const known = [...counter.sources.values()].find((source) => source.namespace === namespace);
    if (known === undefined) return { outcome: 'registered', source: await sources.register(actor, form) };
    if (known.source_type !== 'builtin' && (await isSame(known, form))) return { outcome: 'unchanged', source: known };
    if (update) return { outcome: 'updated', source: await sources.replace(actor, known.id, form) };
    const message = `A source with the namespace ${namespace} is already there, and registered otherwise. Import with update (--update) to replace it`;
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

/** As it is stored: what is not there is not there. */
function plain(definition: object): unknown {
  return JSON.parse(JSON.stringify(definition));
}

import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../../inventory/definition-hash.ts';
import { CribError } from '../../model/crib-error.ts';
import type { DefinedSource, SourceRecord } from '../../model/source.ts';
import { hiddenValue } from '../../secrets/secret.ts';
import { emptyDefinition } from '../../sources/registration/empty-definition.ts';
import { mergeSource } from '../../sources/registration/merge-source.ts';
import { normaliseSource } from '../../sources/registration/normalise-source.ts';
import type { NormalisedSource } from '../../sources/registration/normalised-registration.ts';
import type { RegistrationContext } from '../../sources/registration/registration-context.ts';
import { showSource } from '../../sources/registration/show-source.ts';
import type { SourceForm } from '../../sources/registration/source-form.ts';
import { under } from './under.ts';
import { fieldDifferences, type FieldDifference } from './field-differences.ts';
import type { PlannedChange } from './plan.ts';
import type { WishedSource, WishedState } from './wished-state.ts';

export interface PlannedSource {
  change: PlannedChange | null;
  form: SourceForm;
  known: SourceRecord | undefined;
}

/** The wished sources beside those there are. Nothing is started or connected to, but a registry that a new source names. */
export async function plannedSources(
  wished: WishedState['sources'],
  stored: readonly SourceRecord[],
  scopeOf: (sourceId: string) => RegistrationContext,
): Promise<PlannedSource[]> {
  const planned: PlannedSource[] = [];
  for (const [namespace, source] of Object.entries(wished)) {
    const known = stored.find((one) => one.namespace === namespace);
    planned.push(await under(`sources.${namespace}`, () => plannedSource({ namespace, source, known }, scopeOf)));
  }
  return planned;
}

interface SourcePair {
  namespace: string;
  source: WishedSource;
  known: SourceRecord | undefined;
}

async function plannedSource(
  { namespace, source, known }: SourcePair,
  scopeOf: (sourceId: string) => RegistrationContext,
): Promise<PlannedSource> {
  if (known?.source_type === 'builtin')
    throw new CribError('VALIDATION_ERROR', 'The built-in tools cannot be changed: take this out of the file');
  const form: SourceForm = { ...source, name: source.name ?? namespace, namespace };
  const merged = known === undefined ? form : mergeSource(known, form);
  const after = await normaliseSource(merged, { ...scopeOf(known?.id ?? randomUUID()), known });
  const [secret] = Object.keys(after.secrets);
  if (secret !== undefined) {
    const what = `${secret} is a secret: keep it with \`toolcrib secrets set NAME\`, and write {secret_ref: NAME} or \${NAME} here`;
    throw new CribError('VALIDATION_ERROR', what);
  }
  const fields = sourceDifferences(known, after);
  const at = { kind: 'source', id: namespace } as const;
  if (known === undefined) return { form, known, change: { ...at, action: 'create', fields } };
  if (known.managed_by !== 'file') return { form, known, change: { ...at, action: 'adopt', fields } };
  return { form, known, change: fields.length === 0 ? null : { ...at, action: 'change', fields } };
}

/** What is there beside what is wished, as the API shows both; one that is not there yet beside what holds where nothing is said. */
function sourceDifferences(known: DefinedSource | undefined, after: NormalisedSource): FieldDifference[] {
  const before = { name: null, enabled: null, ...known, definition: known?.definition ?? emptyDefinition(after.source_type) };
  const ofSource = fieldDifferences({ name: before.name, enabled: before.enabled }, { name: after.name, enabled: after.enabled });
  const definedBefore = before.definition as Fields;
  const definedAfter: Fields = after.definition;
  const shownBefore = known === undefined ? definedBefore : (showSource(known) as unknown as Fields);
  const shownAfter = showSource(after) as unknown as Fields;
  const ofDefinition = Object.keys(after.definition).flatMap((field) => {
    if (canonicalJson(definedBefore[field]) === canonicalJson(definedAfter[field])) return [];
    const shown = fieldDifferences(shownBefore[field], shownAfter[field], field);
    // What differs in nothing but a secret is a difference all the same.
    return shown.length > 0 ? shown : [{ field, before: hiddenValue, after: hiddenValue }];
  });
  const fields = [...ofSource, ...ofDefinition];
  // Of something new there is nothing before.
  return known === undefined ? fields.map(({ field, after }) => ({ field, before: null, after })) : fields;
}

type Fields = Record<string, unknown>;

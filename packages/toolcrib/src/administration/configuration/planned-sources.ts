import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../../model/canonical-json.ts';
import { CribError } from '../../model/crib-error.ts';
import { isDefined, type DefinedSource, type SourceRecord } from '../../model/source.ts';
import { hiddenValue } from '../../secrets/secret.ts';
import type { SourceForm } from '../../sources/registration/source-form.ts';
import { registrationFor } from '../../sources/registry.ts';
import { mergeSource, normaliseSource, showSource, type NormalisedSource } from '../../sources/source-registrations.ts';
import type { ScopeOf } from '../registration-scope.ts';
import { withFieldPrefix } from './with-field-prefix.ts';
import { fieldDifferences, type FieldDifference } from './field-differences.ts';
import type { PlannedChange } from './plan.ts';
import type { WishedSource, WishedState } from './wished-state.ts';

export interface PlannedSource {
  change: PlannedChange | null;
  form: SourceForm;
  known: SourceRecord | undefined;
}

/** Compares the wished sources with the stored ones. Starts nothing, and connects only to a registry that a new source names. */
export async function plannedSources(
  wished: WishedState['sources'],
  stored: readonly SourceRecord[],
  scopeOf: ScopeOf,
): Promise<PlannedSource[]> {
  const planned: PlannedSource[] = [];
  for (const [namespace, source] of Object.entries(wished)) {
    const known = stored.find((one) => one.namespace === namespace);
    planned.push(await withFieldPrefix(`sources.${namespace}`, () => plannedSource({ namespace, source, known }, scopeOf)));
  }
  return planned;
}

interface SourcePair {
  namespace: string;
  source: WishedSource;
  known: SourceRecord | undefined;
}

async function plannedSource({ namespace, source, known }: SourcePair, scopeOf: ScopeOf): Promise<PlannedSource> {
  if (known !== undefined && !isDefined(known))
    throw new CribError('VALIDATION_ERROR', 'The built-in tools cannot be changed: remove this source from the file');
  const form: SourceForm = { ...source, name: source.name ?? namespace, namespace };
  const merged = known === undefined ? form : mergeSource(known, form);
  const after = await normaliseSource(merged, { ...scopeOf(known?.id ?? randomUUID(), form.source_type), known });
  const [secret] = Object.keys(after.secrets);
  if (secret !== undefined) {
    const what = `${secret} is a secret: store it with \`toolcrib secrets set NAME\`, and write {secret_ref: NAME} or \${NAME} here`;
    throw new CribError('VALIDATION_ERROR', what);
  }
  const fields = sourceDifferences(known, after);
  const at = { kind: 'source', id: namespace } as const;
  if (known === undefined) return { form, known, change: { ...at, action: 'create', fields } };
  if (known.managed_by !== 'file') return { form, known, change: { ...at, action: 'adopt', fields } };
  return { form, known, change: fields.length === 0 ? null : { ...at, action: 'change', fields } };
}

/** Compares the stored source with the wished one, as the API shows both; a new source is compared with the defaults. */
function sourceDifferences(known: DefinedSource | undefined, after: NormalisedSource): FieldDifference[] {
  const before = { name: null, enabled: null, ...known, definition: known?.definition ?? registrationFor(after.source_type).empty };
  const ofSource = fieldDifferences({ name: before.name, enabled: before.enabled }, { name: after.name, enabled: after.enabled });
  const definedBefore = before.definition as Fields;
  const definedAfter = after.definition as Fields;
  const shownBefore = known === undefined ? definedBefore : (showSource(known) as unknown as Fields);
  const shownAfter = showSource(after) as unknown as Fields;
  const ofDefinition = Object.keys(after.definition).flatMap((field) => {
    if (canonicalJson(definedBefore[field]) === canonicalJson(definedAfter[field])) return [];
    const shown = fieldDifferences(shownBefore[field], shownAfter[field], field);
    // Fields that differ only in a secret are listed too.
    return shown.length > 0 ? shown : [{ field, before: hiddenValue, after: hiddenValue }];
  });
  const fields = [...ofSource, ...ofDefinition];
  // A new source has no earlier values.
  return known === undefined ? fields.map(({ field, after }) => ({ field, before: null, after })) : fields;
}

type Fields = Record<string, unknown>;

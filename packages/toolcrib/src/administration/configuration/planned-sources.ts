import { randomUUID } from 'node:crypto';
import { canonicalJson } from '../../inventory/definition-hash.ts';
import { CribError } from '../../model/crib-error.ts';
import { mcpDefinitionSchema, type McpDefinition } from '../../model/mcp-definition.ts';
import type { SourceRecord } from '../../model/source.ts';
import { hiddenValue } from '../../secrets/secret.ts';
import type { McpRegistration } from '../../sources/mcp/registration/forms.ts';
import { mergeUpdate } from '../../sources/mcp/registration/merge-update.ts';
import { normaliseRegistration } from '../../sources/mcp/registration/normalise.ts';
import type { RegistrationContext } from '../../sources/mcp/registration/registration-context.ts';
import { showDefinition } from '../../sources/mcp/registration/show-definition.ts';
import { under } from './under.ts';
import { fieldDifferences, type FieldDifference } from './field-differences.ts';
import type { PlannedChange } from './plan.ts';
import type { WishedSource, WishedState } from './wished-state.ts';

type SourceState = Pick<SourceRecord, 'name' | 'enabled'> & { definition: McpDefinition };

export interface PlannedSource {
  change: PlannedChange | null;
  form: McpRegistration;
  known: SourceRecord | undefined;
}

/** The wished sources beside those there are. Nothing is started or connected to. */
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
  if (known?.definition === null)
    throw new CribError('VALIDATION_ERROR', 'The built-in tools cannot be changed: take this out of the file');
  const form: McpRegistration = { ...source, name: source.name ?? namespace, namespace };
  const merged = known === undefined ? form : mergeUpdate(known.definition, form);
  const after = await normaliseRegistration(merged, scopeOf(known?.id ?? randomUUID()));
  const [secret] = Object.keys(after.secrets);
  if (secret !== undefined) {
    const what = `${secret} is a secret: keep it with \`toolcrib secrets set NAME\`, and write {secret_ref: NAME} or \${NAME} here`;
    throw new CribError('VALIDATION_ERROR', what);
  }
  const fields = sourceDifferences(known, after);
  const at = { kind: 'source', id: namespace } as const;
  if (known === undefined) return { form, known, change: { ...at, action: 'create', fields } };
  if (known.managed_by === null) return { form, known, change: { ...at, action: 'adopt', fields } };
  return { form, known, change: fields.length === 0 ? null : { ...at, action: 'change', fields } };
}

/** What is there beside what is wished, as the API shows both; one that is not there yet beside what holds where nothing is said. */
function sourceDifferences(known: SourceRecord | undefined, after: SourceState): FieldDifference[] {
  const before = { name: null, enabled: null, ...known, definition: known?.definition ?? mcpDefinitionSchema.parse({}) };
  const ofSource = fieldDifferences({ name: before.name, enabled: before.enabled }, { name: after.name, enabled: after.enabled });
  const shownBefore = showDefinition(before.definition) as unknown as Record<string, unknown>;
  const shownAfter = showDefinition(after.definition) as unknown as Record<string, unknown>;
  const ofDefinition = Object.keys(after.definition).flatMap((field) => {
    const key = field as keyof McpDefinition;
    if (canonicalJson(before.definition[key]) === canonicalJson(after.definition[key])) return [];
    const shown = fieldDifferences(shownBefore[field], shownAfter[field], field);
    // What differs in nothing but a secret is a difference all the same.
    return shown.length > 0 ? shown : [{ field, before: hiddenValue, after: hiddenValue }];
  });
  const fields = [...ofSource, ...ofDefinition];
  // Of something new there is nothing before.
  return known === undefined ? fields.map(({ field, after }) => ({ field, before: null, after })) : fields;
}

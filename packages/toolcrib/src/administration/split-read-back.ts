import { canonicalJson } from '../model/canonical-json.ts';
import { CribError } from '../model/crib-error.ts';
import { splitStamp } from '../model/read-back.ts';
import { isDefined, type SourceRecord } from '../model/source.ts';
import { seenFields, type ReadBack } from '../sources/source-forms.ts';
import { showSource } from '../sources/source-registrations.ts';
import type { SourceForm } from '../sources/registration/source-form.ts';

/**
 * [SRC-2] Extracts the registration from a body that may be a whole response of ours. Fields that only the server sets must be as they were
 * read; fields that report its state, such as `status`, change by themselves and are ignored.
 */
export function splitReadBack<Form extends Pick<SourceForm, 'id'>>(
  body: Form & ReadBack,
  current: SourceRecord,
): { form: Form; seen: number | undefined } {
  const { definition, ...rest } = body;
  const { input, seen } = splitStamp(rest, current);
  const form: Record<string, unknown> = { ...input };
  for (const field of Object.keys(seenFields)) delete form[field];
  // If the source was changed since, saving fails with that reason.
  const isCurrent = seen === undefined || seen === current.updated_at;
  const shown = isDefined(current) ? showSource(current) : null;
  if (definition != null && isCurrent && canonicalJson(definition) !== canonicalJson(shown)) {
    const message =
      'The definition follows from the registration and cannot be changed itself: change the registration fields, and leave the definition out';
    throw new CribError('VALIDATION_ERROR', message, { field: 'definition' });
  }
  return { form: form as Form, seen };
}

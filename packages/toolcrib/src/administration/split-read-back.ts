import { canonicalJson } from '../inventory/definition-hash.ts';
import { CribError } from '../model/crib-error.ts';
import { splitStamp } from '../model/read-back.ts';
import type { SourceRecord } from '../model/source.ts';
import { seenFields } from '../sources/registration/replaced-source-form.ts';
import { showSource } from '../sources/registration/show-source.ts';

interface ReadBack {
  id?: string | undefined;
  definition?: object | null | undefined;
  managed_by?: unknown;
  created_at?: number | undefined;
  updated_at?: number | undefined;
}

/** Of each form by itself, so that `source_type` still tells them apart. */
type Registration<Body> = Body extends unknown ? Omit<Body, keyof ReadBack | keyof typeof seenFields> : never;

/**
 * [SRC-2] The registration within what may be a whole answer of ours. What the server alone sets has to be as it was read; what it has only
 * seen changes by itself, and is ignored.
 */
export function splitReadBack<Body extends ReadBack>(
  body: Body,
  current: SourceRecord,
): { form: Registration<Body>; seen: number | undefined } {
  const { definition, ...rest } = body;
  const { input, seen } = splitStamp(rest, current);
  const form: Record<string, unknown> = { ...input };
  for (const field of Object.keys(seenFields)) delete form[field];
  // Where it was changed since, that is what is wrong with it.
  const isCurrent = seen === undefined || seen === current.updated_at;
  const shown = current.source_type === 'builtin' ? null : showSource(current);
  if (definition != null && isCurrent && canonicalJson(definition) !== canonicalJson(shown)) {
    const message =
      'The definition is made from the registration: change the fields of that, and send the definition as it was read, or leave it out';
    throw new CribError('VALIDATION_ERROR', message, { field: 'definition' });
  }
  return { form: form as Registration<Body>, seen };
}

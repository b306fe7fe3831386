import type { DocumentPlace } from '../../model/document-place.ts';
import { CribError } from '../../model/crib-error.ts';
import type { AnyDefinition, DefinedSource } from '../../model/source.ts';
import { mergeUpdate } from '../mcp/registration/merge-update.ts';
import type { DocumentForm } from './document-form.ts';
import { keepStored, nothingStored } from './keep-stored.ts';
import type { SourceForm } from './source-form.ts';

/**
 * [ENV-4] A registration that replaces a stored one, with the stored value wherever it says `***`. A `***` for which nothing is stored
 * stays, and is refused when the registration is normalised.
 */
export function mergeSource(known: DefinedSource, form: SourceForm, { keepSecrets = true } = {}): SourceForm {
  const stored = <Definition extends AnyDefinition>(definition: Definition) =>
    keepSecrets ? definition : { ...definition, ...nothingStored };
  switch (form.source_type) {
    case 'mcp':
      if (known.source_type !== form.source_type) break;
      return mergeUpdate(known.definition, form, { keepSecrets });
    case 'openapi':
      if (known.source_type !== form.source_type) break;
      return { ...form, ...keepStored(form, stored(known.definition)), openapi: keepDocument(form.openapi, known.definition.document) };
    case 'workflow': {
      if (known.source_type !== form.source_type) break;
      const { pinning, discovery_credential } = keepStored(form, stored(known.definition));
      return { ...form, pinning, discovery_credential, workflow: keepDocument(form.workflow, known.definition.document) };
    }
  }
  throw new CribError('CONFLICT', `${known.name} is a source of the type ${known.source_type}, and stays one: register another`, {
    field: 'source_type',
  });
}

function keepDocument<Form extends DocumentForm>(form: Form, place: DocumentPlace): Form {
  const isGiven = form.url !== undefined || form.file !== undefined || form.text !== undefined;
  return isGiven || !('stored' in place) ? form : { ...form, stored: place.stored };
}

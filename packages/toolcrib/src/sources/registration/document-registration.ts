import { resolve } from 'node:path';
import type { DocumentPlace } from '../../model/document-place.ts';
import type { SourceDefinition } from '../../model/source-definition.ts';
import type { DocumentForm } from './document-form.ts';
import { originOf } from './is-sent-elsewhere.ts';
import { maskAddress } from './mask-address.ts';
import type { RunNeed } from './normalised-registration.ts';
import { showValues, type Shown } from './show-values.ts';

/** The definition of a source that a document describes. */
export type DocumentDefinition = SourceDefinition & { document: DocumentPlace };

/** [ENV-4] The definition as the API shows it. */
export function showDocumentDefinition<Definition extends DocumentDefinition>(definition: Definition): Shown<Definition> {
  return { ...showValues(definition), document: shownPlace(definition.document) };
}

function shownPlace(place: DocumentPlace): DocumentPlace {
  return 'url' in place ? { url: maskAddress(place.url) } : place;
}

/** A replacement without a document keeps the stored text. */
export function keepDocument<Form extends DocumentForm>(form: Form, place: DocumentPlace): Form {
  const isGiven = form.url !== undefined || form.file !== undefined || form.text !== undefined;
  return isGiven || !('stored' in place) ? form : { ...form, stored: place.stored };
}

/** Leaves out the text, which is stored with the source: a replacement without a document keeps it. */
export function documentAsGiven<Form extends DocumentForm>(given: Form, place: DocumentPlace): Form {
  const { text: _text, stored: _stored, ...form } = given;
  const shown = shownPlace(place);
  return ('url' in shown ? { ...form, url: shown.url } : form) as Form;
}

/** The place of the document, as fields of a form. */
export function placeFields(place: DocumentPlace): object {
  return 'stored' in place ? {} : shownPlace(place);
}

/** [SEC-2] A document in a file needs the run permission. */
export function documentRunNeed({ document }: DocumentDefinition, field: string): RunNeed | null {
  return 'file' in document ? { does: 'reads a file', field: `${field}.file` } : null;
}

/** A path in a configuration file is relative to the folder of that file. */
export function resolveDocumentFile<Form extends DocumentForm>(form: Form, folder: string): Form {
  return form.file === undefined ? form : { ...form, file: resolve(folder, form.file) };
}

/**
 * Without a `server_url` the document decides where calls go, so any change of `place` counts. With a `server_url`, only the origin counts
 * that gets the discovery credential.
 */
export function hasOtherDocument<Definition extends DocumentDefinition>(
  before: Definition,
  after: Definition,
  place: (definition: Definition) => unknown,
): boolean {
  if (after.server_url === null) return JSON.stringify(place(before)) !== JSON.stringify(place(after));
  const fetched = ({ document }: Definition) => originOf('url' in document ? document.url : null);
  return before.discovery_credential !== null && fetched(before) !== fetched(after);
}

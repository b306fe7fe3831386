import { hash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { DocumentPlace } from '../../model/document-place.ts';
import { mostDocumentBytes, type DocumentForm } from './document-form.ts';
import type { Draft } from './draft.ts';
import { invalid } from './invalid.ts';
import { checkServerUrl, takeQuerySecrets } from './server-url.ts';

interface PlaceRules {
  /** The field of the request, such as `openapi` or `workflow`. */
  field: string;
  allowInsecure: boolean;
}

export interface PlacedDocument {
  place: DocumentPlace;
  /** The text to store with the source; null if the document is elsewhere or already stored. */
  text: string | null;
}

/** [SRC-5] Checks the place or content of a source's document. */
export function readDocumentPlace(draft: Draft, form: DocumentForm, { field, allowInsecure }: PlaceRules): PlacedDocument {
  const { url, file, text, stored } = form;
  const given = (['url', 'file', 'text'] as const).filter((name) => form[name] !== undefined);
  if (given.length > 1) throw invalid(`${field}.${given[1]}`, `Give one of url, file and text, not ${given.join(' and ')}`);
  if (url !== undefined) {
    checkServerUrl(url, { field: `${field}.url`, allowInsecure, draft });
    return { place: { url: takeQuerySecrets(url.trim(), draft.putAside) }, text: null };
  }
  if (file !== undefined) {
    if (!isAbsolute(file) || file.includes('\0')) throw invalid(`${field}.file`, 'The path of the file must be absolute');
    return { place: { file }, text: null };
  }
  if (text !== undefined) {
    if (text.trim() === '') throw invalid(`${field}.text`, 'The document is empty');
    if (Buffer.byteLength(text) > mostDocumentBytes)
      throw invalid(`${field}.text`, `The document has more than ${mostDocumentBytes} bytes`);
    if (text.includes('\0') || !text.isWellFormed())
      throw invalid(`${field}.text`, 'The document contains NUL characters or invalid Unicode');
    return { place: { stored: hash('sha256', text, 'hex') }, text };
  }
  if (stored !== undefined) return { place: { stored }, text: null };
  throw invalid(
    field,
    'Give the document: url for its address, file for a path on the machine of the server, or text for the document itself',
  );
}

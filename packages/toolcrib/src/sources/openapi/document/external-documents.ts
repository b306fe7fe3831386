import { CribError } from '../../../model/crib-error.ts';
import { isObject, type Json, type JsonObject } from '../../../model/json.ts';
import type { OpenDocument } from './open-document.ts';
import { parseDocument } from '../../documents/parse-document.ts';
import { shortHash } from '../../documents/short-hash.ts';

const mostDocuments = 5000;
const mostText = 64 * 1024 * 1024;
const loadedAtOnce = 8;
/** The field of the root that holds the embedded documents. */
const place = 'x-external';

export interface ExternalDocuments {
  /** Prefixes of the addresses that may be read. */
  allowed: readonly string[];
  load(url: string): Promise<string>;
}

/** The documents that were read beside the main document. */
export interface LoadedDocuments {
  /** In the order in which the documents refer to them. */
  urls: string[];
  bytes: number;
  /** One for each document that could not be read. */
  warnings: string[];
}

type Wanted = readonly [address: string, at: string];

interface Piece {
  value: Json;
  url: URL | null;
  /** The JSON Pointer to this document in the main document. */
  at: string;
}

/**
 * Embeds the documents that this one refers to, as far as `allowed` permits, and rewrites the references to lead there. Other references
 * stay as they are, and the operations that need them are reported.
 */
export async function takeInDocuments(
  { root, origins }: Pick<OpenDocument, 'root' | 'origins'>,
  url: URL | null,
  { allowed, load }: ExternalDocuments,
): Promise<LoadedDocuments> {
  const loaded: LoadedDocuments = { urls: [], bytes: 0, warnings: [] };
  if (allowed.length === 0) return loaded;
  /** JSON Pointers of the documents, by address. */
  const pointers = new Map<string, string>();
  if (url !== null) pointers.set(withoutFragment(url), '');
  const documents: JsonObject = {};
  const mayRead = ({ href }: URL) => allowed.some((prefix) => isBelow(href, prefix));

  /** Empty if the document cannot be read: only operations that need it are affected. */
  function read([address, at]: Wanted, text: PromiseSettledResult<string>): Piece[] {
    let value: Json;
    try {
      if (text.status === 'rejected') throw text.reason;
      loaded.bytes += Buffer.byteLength(text.value);
      value = parseDocument(text.value).value;
    } catch (error) {
      loaded.warnings.push(`${address} could not be read: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
    loaded.urls.push(address);
    if (loaded.bytes > mostText) throw tooMuch(`more than ${mostText / 1024 / 1024} MiB of other documents`);
    documents[at.split('/').at(-1) ?? ''] = value;
    return [{ value, url: new URL(address), at }];
  }

  for (let pieces: Piece[] = [{ value: root, url, at: '' }]; pieces.length > 0;) {
    const wanted: Wanted[] = [];
    for (const piece of pieces) {
      redirect(piece, (address) => {
        const name = withoutFragment(address);
        if (!pointers.has(name) && mayRead(address)) {
          const at = `/${place}/${shortHash(name)}`;
          pointers.set(name, at);
          origins.set(at, name);
          wanted.push([name, at]);
        }
        return pointers.get(name);
      });
    }
    if (pointers.size > mostDocuments) throw tooMuch(`more than ${mostDocuments} other documents`);
    pieces = [];
    for (let from = 0; from < wanted.length; from += loadedAtOnce) {
      const slice = wanted.slice(from, from + loadedAtOnce);
      const texts = await Promise.allSettled(slice.map(async ([address]) => load(address)));
      // In the order of the references, whichever document arrived first.
      for (const [index, text] of texts.entries()) pieces.push(...read(slice[index] as Wanted, text));
    }
  }
  if (loaded.urls.length > 0) root[place] = documents;
  return loaded;
}

/** Rewrites every reference that leads to an embedded document. */
function redirect({ value, url, at }: Piece, pointerTo: (address: URL) => string | undefined): void {
  const seen = new Set<Json>();
  const open: Json[] = [value];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    seen.add(node);
    if (isObject(node) && typeof node['$ref'] === 'string') {
      const reference = node['$ref'];
      const address = URL.parse(reference, url?.href);
      const target = reference.startsWith('#') ? at : address === null ? undefined : pointerTo(address);
      const fragment = reference.includes('#') ? reference.slice(reference.indexOf('#') + 1) : '';
      if (target !== undefined) node['$ref'] = `#${target}${fragment}`;
    }
    // Reversed, because `pop` takes the last: documents are listed in the order of their references.
    for (const inner of Object.values(node).reverse()) if (typeof inner === 'object') open.push(inner);
  }
}

/** A prefix matches only whole path segments: `https://a.example/api` does not allow `https://a.example/api-keys`. */
function isBelow(href: string, prefix: string): boolean {
  const address = URL.parse(prefix);
  if (address === null || !href.startsWith(address.href)) return false;
  const next = href[address.href.length];
  return address.href.endsWith('/') || next === undefined || '/?#'.includes(next);
}

function withoutFragment({ href, hash }: URL): string {
  return hash === '' ? href.replace(/#$/, '') : href.slice(0, -hash.length);
}

function tooMuch(what: string): CribError {
  return new CribError('PAYLOAD_TOO_LARGE', `The document refers to ${what}; narrow external_refs`);
}

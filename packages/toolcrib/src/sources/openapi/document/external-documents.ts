import { CribError } from '../../../model/crib-error.ts';
import type { Json, JsonObject } from '../../../model/json.ts';
import { isObject } from './node.ts';
import type { OpenDocument } from './open-document.ts';
import { parseDocument } from './parse-document.ts';
import { shortHash } from './short-hash.ts';

const mostDocuments = 5000;
const mostText = 64 * 1024 * 1024;
const loadedAtOnce = 8;
/** Where the documents stand that another one refers to. */
const place = 'x-external';

export interface ExternalDocuments {
  /** Addresses that may be read begin with one of these. */
  allowed: readonly string[];
  load(url: string): Promise<string>;
}

/** What was read beside the document itself. */
export interface LoadedDocuments {
  /** In the order in which the documents refer to them. */
  urls: string[];
  bytes: number;
  /** Those that could not be. */
  warnings: string[];
}

type Wanted = readonly [address: string, at: string];

interface Piece {
  value: Json;
  url: URL | null;
  /** Where it stands in the whole, as the beginning of a pointer. */
  at: string;
}

/**
 * Puts the documents that this one refers to inside of it, as far as that is allowed, and makes the references lead there. All others stay as
 * they are: what needs them is reported where it is used.
 */
export async function takeInDocuments(
  { root, origins }: Pick<OpenDocument, 'root' | 'origins'>,
  url: URL | null,
  { allowed, load }: ExternalDocuments,
): Promise<LoadedDocuments> {
  const loaded: LoadedDocuments = { urls: [], bytes: 0, warnings: [] };
  if (allowed.length === 0) return loaded;
  const places = new Map<string, string>();
  if (url !== null) places.set(withoutFragment(url), '');
  const documents: JsonObject = {};
  const mayRead = ({ href }: URL) => allowed.some((beginning) => isBelow(href, beginning));

  /** Nothing where it cannot be read: only what needs it is the worse for it. */
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
    if (loaded.bytes > mostText) throw tooMuch(`more than ${mostText / 1024 / 1024} MiB`);
    documents[at.split('/').at(-1) ?? ''] = value;
    return [{ value, url: new URL(address), at }];
  }

  for (let pieces: Piece[] = [{ value: root, url, at: '' }]; pieces.length > 0;) {
    const wanted: Wanted[] = [];
    for (const piece of pieces) {
      redirect(piece, (address) => {
        const name = withoutFragment(address);
        if (!places.has(name) && mayRead(address)) {
          const at = `/${place}/${shortHash(name)}`;
          places.set(name, at);
          origins.set(at, name);
          wanted.push([name, at]);
        }
        return places.get(name);
      });
    }
    if (places.size > mostDocuments) throw tooMuch(`more than ${mostDocuments} documents`);
    pieces = [];
    for (let from = 0; from < wanted.length; from += loadedAtOnce) {
      const slice = wanted.slice(from, from + loadedAtOnce);
      const texts = await Promise.allSettled(slice.map(async ([address]) => load(address)));
      // In the order of the document, whichever came first.
      for (const [index, text] of texts.entries()) pieces.push(...read(slice[index] as Wanted, text));
    }
  }
  if (loaded.urls.length > 0) root[place] = documents;
  return loaded;
}

/** Rewrites every reference of a document that leads to a place in the whole. */
function redirect({ value, url, at }: Piece, placeOf: (address: URL) => string | undefined): void {
  const seen = new Set<Json>();
  const open: Json[] = [value];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    seen.add(node);
    if (isObject(node) && typeof node['$ref'] === 'string') {
      const reference = node['$ref'];
      const address = URL.parse(reference, url?.href);
      const target = reference.startsWith('#') ? at : address === null ? undefined : placeOf(address);
      const fragment = reference.includes('#') ? reference.slice(reference.indexOf('#') + 1) : '';
      if (target !== undefined) node['$ref'] = `#${target}${fragment}`;
    }
    // What stands first is taken first.
    for (const inner of Object.values(node).reverse()) if (typeof inner === 'object') open.push(inner);
  }
}

/** A beginning of an address ends where a part of its path does: `https://a.example/api` does not allow `https://a.example/api-keys`. */
function isBelow(href: string, beginning: string): boolean {
  const address = URL.parse(beginning);
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

import { CribError } from '../model/crib-error.ts';
import { isObject, parsedJson } from '../model/json.ts';
import { RecentMap } from '../model/recent-map.ts';
import type { FetchDocument } from '../net/fetch-document.ts';
import type { LoginRecords } from '../store/login-records.ts';
import { clientMetadata, ClientMetadataError } from './client-metadata.ts';
import { hashOf } from './record-adapter.ts';

interface ClientDocumentsInput {
  fetchDocument: FetchDocument;
  records: LoginRecords;
  now: () => number;
  warn(message: string, error: unknown): void;
}

const maxBytes = 16_384;
const timeoutMs = 5000;
/** The model under which the last good document of each client is kept. */
const model = 'ClientDocument';
/** A client whose document cannot be fetched is known by the last one for so long. */
const keptMs = 30 * 86_400_000;
const maxKept = 1000;
/** The library asks more than once where it was refused, and so may somebody who wants us to ask others. */
const pauseMs = 5000;

/** The `fetch` that `oidc-provider` gets: it can fetch documents of clients, and nothing else. */
export type FetchClientDocument = (url: string | URL) => Promise<Response>;

/**
 * [LOGIN-3] The documents of clients whose id is an address (OAuth Client ID Metadata Document). They are fetched by the one way out, which
 * follows no redirect, and what is in them is read under the same rules as a registration. A document that cannot be fetched for a while does
 * not log people out: the last good one stands in. One that was withdrawn or broken does.
 */
export function createClientDocuments({ fetchDocument, records, now, warn }: ClientDocumentsInput): FetchClientDocument {
  async function fetchNow(url: string): Promise<object> {
    const { status, contentType, body } = await fetchDocument(url, { maxBytes, timeoutMs, accept: 'application/json', redirects: 0 });
    if (status >= 500 || status === 429) throw new CribError('SERVICE_UNAVAILABLE', `It answered with status ${status}`);
    if (status !== 200) throw new ClientMetadataError('invalid_client_metadata', `it was answered with status ${status}`);
    if (!/^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i.test(contentType))
      throw new ClientMetadataError('invalid_client_metadata', 'it is not sent as application/json');
    const document = parsedJson(body);
    if (!isObject(document)) throw new ClientMetadataError('invalid_client_metadata', 'it is not a JSON object');
    if (document['client_id'] !== url) throw new ClientMetadataError('invalid_client_metadata', 'its client_id is not its own address');
    if ('client_secret' in document)
      throw new ClientMetadataError('invalid_client_metadata', 'it has a client_secret, which everybody could read');
    return clientMetadata(url, document);
  }

  async function keep(url: string, metadata: object): Promise<void> {
    if ((await records.count(model)) >= maxKept) await records.evict(model, maxKept / 10);
    const times = { consumed_at: null, used_at: now(), expires_at: now() + keptMs };
    await records.put({ model, id: hashOf(url), payload: JSON.stringify(metadata), grant_id: null, ...times });
  }

  async function kept(url: string): Promise<object | undefined> {
    const row = await records.get(model, hashOf(url));
    const metadata = row === undefined || (row.expires_at ?? 0) <= now() ? undefined : parsedJson(row.payload);
    return isObject(metadata) ? metadata : undefined;
  }

  const failed = new RecentMap<{ error: unknown; at: number }>(maxKept);

  return async (given) => {
    const url = String(given);
    const before = failed.get(url);
    if (before !== undefined && now() - before.at < pauseMs) throw before.error;
    try {
      return await read(url);
    } catch (error) {
      failed.set(url, { error, at: now() });
      throw error;
    }
  };

  async function read(url: string): Promise<Response> {
    let metadata: object | undefined;
    try {
      metadata = await fetchNow(url);
      await keep(url, metadata);
    } catch (error) {
      if (error instanceof ClientMetadataError) {
        await records.delete(model, hashOf(url));
        throw error;
      }
      metadata = await kept(url);
      warn(`The metadata document of a client cannot be fetched${metadata === undefined ? '' : ': its last one is used'}`, error);
      if (metadata === undefined) throw error;
    }
    return new Response(JSON.stringify(metadata), { headers: { 'content-type': 'application/json', 'cache-control': 'max-age=300' } });
  }
}

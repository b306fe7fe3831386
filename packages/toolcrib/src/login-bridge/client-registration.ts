import { randomBytes } from 'node:crypto';
import type { Provider } from 'oidc-provider';
import type { Store } from '../store/store.ts';
import { clientMetadata, type ClientMetadata } from './client-metadata.ts';
import type { RecordAdapter } from './record-adapter.ts';

interface ClientRegistrationInput {
  store: Store;
  provider: () => Provider;
  clients: Pick<RecordAdapter, 'upsert'>;
  now: () => number;
  /** How many clients are kept. */
  most?: number;
}

export type RegisterClient = (body: unknown, address: string) => Promise<object>;

/**
 * [LOGIN-3] RFC 7591, without credentials: a client that has registered gets an id, and nothing else. Registering costs nothing, so what is
 * kept is limited, and those go first that were of no use for the longest time.
 */
export function createClientRegistration({ store, provider, clients, now, most = 5000 }: ClientRegistrationInput): RegisterClient {
  return async (body, address) => {
    const metadata: ClientMetadata = clientMetadata(randomBytes(16).toString('base64url'), body);
    await provider().Client.validate(metadata);
    if ((await store.loginRecords.count('Client')) >= most) await store.loginRecords.evict('Client', Math.ceil(most / 20));
    await clients.upsert(metadata.client_id, { ...metadata });
    const { client_id, client_name = null, redirect_uris } = metadata;
    await store.change(
      {
        kind: 'login-client-registered',
        topic: 'login',
        subject: client_id,
        actor: 'system',
        address,
        before: null,
        after: { client_name, redirect_uris },
      },
      () => Promise.resolve(),
    );
    return { ...metadata, client_id_issued_at: Math.floor(now() / 1000), scope: 'mcp' };
  };
}

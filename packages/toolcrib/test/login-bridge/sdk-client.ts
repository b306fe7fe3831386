import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientInformation,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import type { Person, Shown } from './person.ts';
import { callback } from './public-client.ts';

interface SdkClientOptions {
  /** The address of its metadata document, for a client that has one. */
  document?: string;
  /** For a client that the operator has configured. */
  fixedId?: string;
  fetch?: typeof fetch;
}

/** The official client with its own login, as any program uses it that is made with it. */
export class SdkClient implements OAuthClientProvider {
  readonly redirectUrl = callback;
  readonly clientMetadata = {
    client_name: 'An SDK client',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
  };
  readonly clientMetadataUrl?: string;
  saved: OAuthTokens | undefined;
  #information: OAuthClientInformation | undefined;
  #verifier = '';
  #sentTo: URL | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  readonly #url: URL;

  constructor(url: string, { document, fixedId }: SdkClientOptions = {}) {
    this.#url = new URL(url);
    if (document !== undefined) this.clientMetadataUrl = document;
    if (fixedId !== undefined) this.#information = { client_id: fixedId };
  }

  clientInformation = () => this.#information;
  saveClientInformation = (information: OAuthClientInformation) => void (this.#information = information);
  tokens = () => this.saved;
  saveTokens = (tokens: OAuthTokens) => void (this.saved = tokens);
  redirectToAuthorization = (url: URL) => void (this.#sentTo = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState) => void (this.#discovered = state);
  discoveryState = () => this.#discovered;

  /** Finds out how to log in, has somebody do so, and connects. */
  async logIn(person: Person, signIn: (page: Shown) => Promise<Shown>): Promise<void> {
    const transport = new StreamableHTTPClientTransport(this.#url, { authProvider: this });
    const client = new Client({ name: 'an-sdk-client', version: '1' });
    await client.connect(transport).then(
      () => {
        throw new Error('It was let in without a login');
      },
      (error: unknown) => {
        if (!(error instanceof UnauthorizedError)) throw error;
      },
    );
    if (this.#sentTo === undefined) throw new Error('It did not send anybody to a login');
    const back = await signIn(await person.open(this.#sentTo));
    if (back.status !== 0) throw new Error(`The login ended at ${back.url} with ${back.status}: ${back.text}`);
    await transport.finishAuth(new URL(back.url).searchParams);
    await client.close();
  }

  async connect() {
    const client = new Client({ name: 'an-sdk-client', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(this.#url, { authProvider: this }));
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
  }
}

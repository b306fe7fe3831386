import { createHash, randomBytes } from 'node:crypto';
import type { Person, Shown } from './person.ts';

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
  token_type: string;
}

interface Answer {
  status: number;
  json: Tokens & { error?: string; error_description?: string };
}

/** Where it says that it waits. Nothing has to listen there. */
export const callback = 'http://127.0.0.1:49152/callback';

/** A client that does everything by hand, so that a test can do any of it wrong. */
export class PublicClient {
  readonly url: string;
  readonly id: string;
  readonly #verifier = randomBytes(32).toString('base64url');

  constructor(url: string, id: string) {
    this.url = url;
    this.id = id;
  }

  static async register(url: string, metadata: object = {}): Promise<PublicClient> {
    const { status, json } = await postJson(`${url}/login/register`, { client_name: 'A client', redirect_uris: [callback], ...metadata });
    if (status !== 201) throw new Error(`It was not registered: ${JSON.stringify(json)}`);
    return new PublicClient(url, json.client_id as string);
  }

  /** Where a browser begins. A parameter given as undefined is left out. */
  loginUrl(params: Record<string, string | undefined> = {}): string {
    const all = {
      client_id: this.id,
      redirect_uri: callback,
      response_type: 'code',
      code_challenge: createHash('sha256').update(this.#verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 'state-of-the-client',
      resource: `${this.url}/mcp`,
      ...params,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return `${this.url}/login/auth?${new URLSearchParams(given)}`;
  }

  token(form: Record<string, string>, url = this.url): Promise<Answer> {
    return postForm(`${url}/login/token`, { client_id: this.id, ...form }) as unknown as Promise<Answer>;
  }

  redeem(code: string, form: Record<string, string> = {}, url = this.url): Promise<Answer> {
    return this.token({ grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: this.#verifier, ...form }, url);
  }

  refresh(refreshToken: string, form: Record<string, string> = {}, url = this.url): Promise<Answer> {
    return this.token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...form }, url);
  }

  async revoke(token: string, url = this.url): Promise<number> {
    return (await postForm(`${url}/login/revoke`, { token, client_id: this.id })).status;
  }

  /** The whole login of somebody who allows it. `signIn` goes on from the page that asks. */
  async logIn(person: Person, signIn: (page: Shown) => Promise<Shown>, params: Record<string, string> = {}): Promise<Tokens> {
    const back = await signIn(await person.open(this.loginUrl(params)));
    const { status, json } = await this.redeem(codeIn(back));
    if (status !== 200) throw new Error(`There was no token: ${JSON.stringify(json)}`);
    return json;
  }
}

/** What the client was given, once the browser has come back to it. */
export function codeIn({ url, status, text }: Shown): string {
  const code = new URL(url).searchParams.get('code');
  if (code === null || status !== 0) throw new Error(`There is no code in ${url} ${text}`);
  return code;
}

export async function postJson(url: string, body: unknown): Promise<{ status: number; headers: Headers; json: Record<string, unknown> }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Record<string, unknown> };
}

async function postForm(url: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
}

import { createHash, timingSafeEqual } from 'node:crypto';
import { OAuthError } from './oauth-error.ts';

/** RFC 6749 §5.1, RFC 8693 §2.2.1. */
export interface DevTokenResponse {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  scope: string;
  issued_token_type?: string;
}

/** The parameters of a token request. */
export class DevTokenRequest {
  readonly #params: ReadonlyMap<string, string>;
  readonly #authorization: string | undefined;

  constructor(params: URLSearchParams | Record<string, string>, authorization?: string) {
    const entries = params instanceof URLSearchParams ? [...params] : Object.entries(params);
    const seen = new Map<string, string>();
    for (const [name, value] of entries) {
      if (typeof value !== 'string') throw new OAuthError('invalid_request', `The parameter ${name} must be a string`);
      // RFC 6749 §3.2: parameters are sent once, and without a value they count as absent.
      if (seen.has(name)) throw new OAuthError('invalid_request', `The parameter ${name} must be sent exactly once`);
      if (value !== '') seen.set(name, value);
    }
    this.#params = seen;
    this.#authorization = authorization;
  }

  get(name: string): string | undefined {
    return this.#params.get(name);
  }

  require(name: string): string {
    const value = this.#params.get(name);
    if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing`);
    return value;
  }

  /** RFC 6749 §2.3.1: by HTTP Basic or in the body, but not both. */
  authenticateClient(clientId: string, clientSecret: string): void {
    const inBody = this.#params.has('client_secret');
    if (this.#authorization !== undefined && inBody) {
      throw new OAuthError('invalid_request', 'Authenticate the client in one way only: by Basic or in the body');
    }
    const [id, secret] = inBody ? [this.require('client_id'), this.require('client_secret')] : basicCredentials(this.#authorization ?? '');
    if (!sameText(id, clientId) || !sameText(secret, clientSecret)) throw clientRefused();
  }
}

function basicCredentials(authorization: string): [id: string, secret: string] {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  try {
    return [formDecode(id ?? ''), formDecode(secret ?? '')];
  } catch {
    throw clientRefused();
  }
}

function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function clientRefused(): OAuthError {
  return new OAuthError('invalid_client', 'Client authentication failed');
}

/** Takes the same time wherever the texts differ and however long they are. */
function sameText(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}

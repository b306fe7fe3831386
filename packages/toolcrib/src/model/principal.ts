import type { JsonObject } from './json.ts';

/** The verified caller. It never carries the token itself: what came in must not be able to go out. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  /** Issuer and subject in one string: who this is, whatever token they came with. */
  readonly key: string;
  /** The application that speaks for the person (`azp` or `client_id`), for the record. */
  readonly client: string | null;
  /** The whole verified JWT payload; policies may look at any of it. */
  readonly claims: JsonObject;
  /** When the token ends, in epoch milliseconds. */
  readonly expiresAt: number;
}

import type { InboundToken } from './inbound-token.ts';
import type { JsonObject } from './json.ts';

/** Names what acts for Toolcrib itself, such as the application that has embedded it. No token can: issuers are addresses. */
export const ownIssuer = 'local';

/** The verified caller. */
export interface Principal {
  readonly issuer: string;
  readonly subject: string;
  /** What people call them, for people to read: nothing is decided by it. Null where the token does not say. */
  readonly name: string | null;
  /** Issuer and subject in one string: who this is, whatever token they came with. */
  readonly key: string;
  /** The application that speaks for the person (`azp` or `client_id`), for the record. */
  readonly client: string | null;
  /** The whole verified JWT payload; policies may look at any of it. */
  readonly claims: JsonObject;
  /** When the token ends, in epoch milliseconds. */
  readonly expiresAt: number;
  /** [ID-4] What they came with, sealed; null for the application that Toolcrib is embedded in. */
  readonly token: InboundToken | null;
  /** [SEC-4] Where this request came from, for the record of what it changes; absent where nothing is changed. */
  readonly address?: string;
}

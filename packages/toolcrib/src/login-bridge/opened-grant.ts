import type { Principal } from '../model/principal.ts';
import type { LoginGrantRow } from '../store/login-grants.ts';
import type { ProviderTokens } from './provider-tokens.ts';

/** A grant with what stands behind it. */
export interface OpenedGrant {
  readonly row: LoginGrantRow;
  readonly tokens: ProviderTokens;
  /** When the provider's token can no longer be used. */
  readonly tokenEndsAt: number;
}

/** Makes the ordinary principal of what the provider gave. At once for tokens that were verified lately. */
export interface VerifyProvider {
  verify(tokens: ProviderTokens): Principal | Promise<Principal>;
}

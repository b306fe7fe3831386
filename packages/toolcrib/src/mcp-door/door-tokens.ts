import type { TokenVerifier } from '../identity/verify-token.ts';
import type { Principal } from '../model/principal.ts';

/** The tokens that our own authorization server gives to MCP clients. */
export interface BridgeTokens {
  /** Whether a token claims to be one of ours, without verifying it. */
  isOurs(token: string): boolean;
  /** The person whom a token stands for, if it is valid and meant for this very resource. */
  verify(token: string, resource: string): Principal | Promise<Principal>;
}

export interface DoorTokens {
  /** Returns at once for a token that is known, and a promise otherwise. `resource` is the address without its query. */
  verify(token: string, resource: string): Principal | Promise<Principal>;
}

interface DoorTokensInput {
  verifier: Pick<TokenVerifier, 'verify'>;
  bridge?: BridgeTokens | undefined;
}

/**
 * [LOGIN-2] Which tokens open an address of the door: those of a configured issuer that are meant for this server or for this address, and
 * those of the bridge that are meant for this address. A token for one address opens no other, and not the REST API.
 */
export function createDoorTokens({ verifier, bridge }: DoorTokensInput): DoorTokens {
  if (bridge === undefined) return { verify: (token, resource) => verifier.verify(token, resource) };
  return { verify: (token, resource) => (bridge.isOurs(token) ? bridge : verifier).verify(token, resource) };
}

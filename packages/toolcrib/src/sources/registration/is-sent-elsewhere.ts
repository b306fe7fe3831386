import type { Credential, SourceDefinition } from '../../model/source-definition.ts';

/**
 * Whether the new definition would send the secrets of the old one to another server or authorization server. A credential of another type
 * takes over no secrets, so its addresses do not matter.
 */
export function isSentElsewhere(before: SourceDefinition, after: SourceDefinition): boolean {
  if (originOf(before.server_url) !== originOf(after.server_url)) return true;
  return isElsewhere(before.credential, after.credential) || isElsewhere(before.discovery_credential, after.discovery_credential);
}

function isElsewhere(before: Credential | null, after: Credential | null): boolean {
  if (before === null || before.type !== after?.type) return false;
  const [left, right] = [addressesOf(before), addressesOf(after)];
  return left.some((address, index) => originOf(address) !== originOf(right[index]));
}

function addressesOf(credential: Credential): (string | undefined)[] {
  const { token_url, authorization_server, identity_provider } = credential as {
    token_url?: string;
    authorization_server?: string;
    identity_provider?: { token_url: string };
  };
  return [token_url, authorization_server, identity_provider?.token_url];
}

export function originOf(address: string | null | undefined): string {
  return URL.parse(address ?? '')?.origin ?? '';
}

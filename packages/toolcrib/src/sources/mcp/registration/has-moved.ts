import type { Credential, McpDefinition } from '../../../model/mcp-definition.ts';

/**
 * Whether secrets that were given for the one definition would be sent to somebody else by the other: to another server, or to another
 * authorization server. A credential of another kind takes no secrets over, so that its addresses do not matter.
 */
export function hasMoved(before: McpDefinition, after: McpDefinition): boolean {
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

function originOf(address: string | null | undefined): string {
  return URL.parse(address ?? '')?.origin ?? '';
}

import type { Credential } from '../../model/source-definition.ts';
import type { AnyDefinition } from '../../model/source.ts';

/**
 * Whether secrets that were given for the one definition would be sent to somebody else by the other: to another server, to another
 * authorization server, or wherever another document says. A credential of another kind takes no secrets over, so that its addresses do
 * not matter.
 */
export function hasMoved(before: AnyDefinition, after: AnyDefinition): boolean {
  if (originOf(before.server_url) !== originOf(after.server_url)) return true;
  if ('document' in before && 'document' in after && hasOtherDocument(before, after)) return true;
  return isElsewhere(before.credential, after.credential) || isElsewhere(before.discovery_credential, after.discovery_credential);
}

type DocumentDefinition = Extract<AnyDefinition, { document: unknown }>;

/** Without a server of its own, a source is spoken to where its document says. With one it only matters to whom we ask for the document. */
function hasOtherDocument(before: DocumentDefinition, after: DocumentDefinition): boolean {
  if (after.server_url === null) return placeOf(before) !== placeOf(after);
  const fetched = ({ document }: DocumentDefinition) => originOf('url' in document ? document.url : null);
  return before.discovery_credential !== null && fetched(before) !== fetched(after);
}

function placeOf(definition: DocumentDefinition): string {
  const { document } = definition;
  const { server_variables: variables, origins } =
    'server_variables' in definition ? definition : { server_variables: {}, origins: [] as string[] };
  const sorted = Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([Object.entries(document), sorted, origins.toSorted()]);
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

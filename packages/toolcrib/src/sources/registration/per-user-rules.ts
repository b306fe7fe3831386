import type { Credential } from '../../model/source-definition.ts';
import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import { invalid } from './invalid.ts';
import type { CredentialInput } from './value-input.ts';

/** [INV-6] What a connection for discovery goes with, and what it may say. */
export function checkDiscoveryConnection(discovery: CredentialInput | undefined, credential: Credential): void {
  if (discovery?.type !== 'oauth') return;
  if (Object.keys(discovery).length > 1) {
    throw invalid('discovery_credential', 'A connection for discovery has the settings of the credential: give {"type": "oauth"} alone');
  }
  if (credential.type !== 'oauth') {
    throw invalid('discovery_credential', `A connection for discovery goes with an oauth credential, and this one is ${credential.type}`);
  }
}

/** [ID-4] Whoever reads along could be the caller everywhere. */
export function checkForwarding(credential: Credential, { allowInsecure, url }: { allowInsecure: boolean; url: string | null }): void {
  if (credential.type !== 'caller_token') return;
  const { protocol = '', hostname = '' } = URL.parse(url ?? '') ?? {};
  if (!allowInsecure && (protocol !== 'http:' || isLoopbackHost(hostname))) return;
  const message = "A caller's own token is sent over https only, or within this machine";
  throw allowInsecure ? invalid('allow_insecure', `${message}. Take it out`) : invalid('credential', `${message}. Use an https address`);
}

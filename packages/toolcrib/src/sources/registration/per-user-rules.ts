import type { Credential } from '../../model/source-definition.ts';
import { isLoopbackHost } from '../../net/is-loopback-host.ts';
import { invalid } from './invalid.ts';
import type { CredentialInput } from './value-input.ts';

/** [INV-6] An `oauth` discovery credential needs an `oauth` credential, and has no settings of its own. */
export function checkDiscoveryConnection(discovery: CredentialInput | undefined, credential: Credential): void {
  if (discovery?.type !== 'oauth') return;
  if (Object.keys(discovery).length > 1) {
    throw invalid('discovery_credential', 'An oauth discovery_credential uses the settings of the credential: give only {"type": "oauth"}');
  }
  if (credential.type !== 'oauth') {
    throw invalid(
      'discovery_credential',
      `An oauth discovery_credential needs an oauth credential, but the credential is ${credential.type}`,
    );
  }
}

/** [ID-4] Anyone who reads the caller's token on the way could act as the caller everywhere. */
export function checkForwarding(credential: Credential, { allowInsecure, url }: { allowInsecure: boolean; url: string | null }): void {
  if (credential.type !== 'caller_token') return;
  const { protocol = '', hostname = '' } = URL.parse(url ?? '') ?? {};
  if (!allowInsecure && (protocol !== 'http:' || isLoopbackHost(hostname))) return;
  const message = "A caller's own token is only sent over https or within this machine";
  throw allowInsecure
    ? invalid('allow_insecure', `${message}. Remove allow_insecure`)
    : invalid('credential', `${message}. Use an https address`);
}

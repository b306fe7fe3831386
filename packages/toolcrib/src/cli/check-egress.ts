import type { ServeConfig } from '../server/server-config.ts';
import { readCertificates } from '../net/read-certificates.ts';
import type { Check } from './check.ts';

type Egress = Pick<ServeConfig, 'issuers' | 'allowedNetworks' | 'proxy' | 'noProxy' | 'caFile'>;

/** [SEC-1] How the server would connect to other machines. The check of the issuer shows whether that works. */
export function checkEgress({ issuers, allowedNetworks, proxy, noProxy = [], caFile }: Egress): Check[] {
  const check = { required: false, state: 'ok' } as const;
  const networks = allowedNetworks ?? (issuers.length === 0 ? ['loopback', 'private (with a warning)'] : []);
  const beside = networks.length === 0 ? 'public addresses only' : `public addresses, and ${networks.join(', ')}`;
  const checks: Check[] = [{ ...check, name: 'networks', detail: beside }];
  if (proxy !== undefined) {
    // Never the address as it was given: there may be a password in it.
    const except = noProxy.length === 0 ? '' : `, except for ${noProxy.join(', ')}`;
    checks.push({ ...check, name: 'proxy', detail: `${new URL(proxy).host}${except}` });
  }
  if (caFile !== undefined) {
    const { length } = readCertificates(caFile);
    checks.push({ ...check, name: 'certificates', detail: `${length} of ${caFile} in addition to the usual ones` });
  }
  return checks;
}

import { createSecureContext, getCACertificates } from 'node:tls';
import { CribError } from '../model/crib-error.ts';
import { checkAddress } from './check-address.ts';
import { createFetchDocument, type FetchDocument } from './fetch-document.ts';
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { parseIp } from './ip-address.ts';
import { createNetworkRules } from './network-rules.ts';
import { createProxy } from './proxy.ts';
import { readCertificates } from './read-certificates.ts';
import { openWayOut, type LookUp, type OpenWayOut } from './way-out.ts';

export interface EgressConfig {
  /** Networks that are allowed besides public addresses; none by default. */
  allowedNetworks?: readonly string[] | undefined;
  /** The proxy for all requests: `http://user:password@proxy:3128`. */
  proxy?: string | undefined;
  /** The destinations that are reached without the proxy. */
  noProxy?: readonly string[] | undefined;
  /** Certificates to trust in addition to the default ones, as PEM. */
  caFile?: string | undefined;
  /** In development, plain http to other machines is allowed, and perhaps private networks. `warn` is called once for each place. */
  lenient?: { warn(message: string): void; privateNetworks: boolean } | undefined;
  /** How names are looked up; by default as the system does. */
  lookUp?: LookUp | undefined;
}

/** [SEC-1] The one way out: everything that Toolcrib sends to another machine goes through here. */
export interface Egress {
  /** Requests to one origin over persistent connections. */
  httpClient(options: { origin: string; maxConnections?: number }): HttpClient;
  fetchDocument: FetchDocument;
  /** A `fetch` for libraries that want one. */
  guardedFetch(options: GuardedFetchOptions): GuardedFetch;
  /** An address we are willing to send to; refuses plain http to another machine unless that is allowed. */
  checkAddress(url: string | URL, allowInsecure: boolean): URL;
  /** Refuses a literal address that connecting would refuse anyway. Names are checked when connecting. */
  checkLiteral(url: URL): void;
  /** The same, for exactly these origins wherever they lead: the operator has named them. Metadata services stay out of reach. */
  trusting(origins: readonly string[]): Egress;
}

export function createEgress({ allowedNetworks = [], proxy, noProxy = [], caFile, lookUp, lenient }: EgressConfig): Egress {
  const warn = lenient && oncePerText(lenient.warn);
  const rules = createNetworkRules(allowedNetworks, warn && lenient.privateNetworks ? { warn } : undefined);
  const certificates = caFile === undefined ? [] : readCertificates(caFile);
  const input = {
    rules,
    lookUp,
    proxy: proxy === undefined ? undefined : createProxy(proxy, noProxy),
    // Made once: reading all root certificates for every connection takes long.
    secureContext: caFile === undefined ? undefined : createSecureContext({ ca: [...getCACertificates('default'), ...certificates] }),
  };

  function checked(url: string | URL, allowInsecure: boolean): URL {
    try {
      return checkAddress(url, allowInsecure);
    } catch (error) {
      if (warn === undefined) throw error;
      const target = checkAddress(url, true);
      warn(`${target.origin} is plain http on another machine. Development allows that; with an issuer it needs allow_insecure`);
      return target;
    }
  }

  function trusting(origins: ReadonlySet<string>): Egress {
    const open: OpenWayOut = (options) => openWayOut(input, { ...options, trusted: origins.has(options.origin) });
    return {
      httpClient: (options) => createHttpClient({ open, ...options }),
      fetchDocument: createFetchDocument({ open, checkAddress: checked }),
      guardedFetch: (options) => createGuardedFetch({ open, checkAddress: checked, ...options }),
      checkAddress: checked,
      checkLiteral(url) {
        const address = url.hostname.replaceAll(/^\[|\]$/g, '');
        if (parseIp(address) === undefined) rules.checkName(address);
        else rules.check({ hostname: address, address, trusted: origins.has(url.origin) });
      },
      trusting: (more) => trusting(new Set([...origins, ...more.map(originOf)])),
    };
  }
  return trusting(new Set());
}

function originOf(address: string): string {
  const { origin } = URL.parse(address) ?? {};
  if (origin === undefined || origin === 'null') throw new CribError('INTERNAL', 'Only web addresses can be trusted');
  return origin;
}

/** More warnings than these nobody reads. */
function oncePerText(tell: (text: string) => void): (text: string) => void {
  const warned = new Set<string>();
  return (text) => {
    if (warned.has(text) || warned.size >= 1000) return;
    warned.add(text);
    tell(text);
  };
}

import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import type { NetworkRules } from './network-rules.ts';
import { proxyUnreachable, type Proxy } from './proxy.ts';

/** Looks up all addresses of a name. */
export type LookUp = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface WayOutInput {
  rules: NetworkRules;
  proxy: Proxy | undefined;
  /** With certificates in addition to the default ones. */
  secureContext: SecureContext | undefined;
  lookUp?: LookUp | undefined;
}

export interface WayOutOptions {
  origin: string;
  /** The operator has named exactly this origin. */
  trusted: boolean;
  /** Refuses addresses of this machine, even where they are otherwise allowed. */
  refuseLoopback: boolean;
}

/** [SEC-1] How one origin is reached. Addresses are checked when a connection is made, and not when it is used again. */
export interface WayOut {
  readonly connect: buildConnector.connector;
  /** The proxy that reads the requests themselves, which it does where they are not encrypted. */
  readonly proxy: Proxy | undefined;
}

export type OpenWayOut = (options: Omit<WayOutOptions, 'trusted'>) => Promise<WayOut>;

type Check = (hostname: string, address: string) => void;

const connectTimeoutMs = 10_000;

export async function openWayOut(input: WayOutInput, { origin, trusted, refuseLoopback }: WayOutOptions): Promise<WayOut> {
  const { rules, secureContext, lookUp = systemLookup } = input;
  // Loaded on first use: a server without remote sources never needs it.
  const { buildConnector } = await import('./undici.ts');
  const common = { ...(secureContext && { secureContext }), allowH2: false, timeout: connectTimeoutMs };
  const check: Check = (hostname, address) => rules.check({ hostname, address, trusted, refuseLoopback });
  const target = new URL(origin);
  if (input.proxy === undefined || input.proxy.bypassed(target)) {
    const connect = buildConnector({ ...common, lookup: checkedLookup(lookUp, check) });
    return { connect: withLiteralsChecked(connect, check), proxy: undefined };
  }

  const { proxy } = input;
  const { url } = proxy;
  const connect = buildConnector(common);
  const encrypted = target.protocol === 'https:';
  async function connectThrough(to: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    try {
      rules.checkName(to.hostname);
      for (const address of await addressesOf(to.hostname, lookUp)) check(to.hostname, address);
      if (encrypted) {
        const authority = `${target.hostname}:${target.port === '' ? '443' : target.port}`;
        connect({ ...to, httpSocket: await proxy.tunnel(authority, secureContext) }, callback);
        return;
      }
      const { protocol, host, hostname, port } = url;
      connect({ protocol, host, hostname: unbracketed(hostname), port }, (error, socket) => {
        if (error === null) callback(null, socket);
        else callback(proxyUnreachable(url, error), null);
      });
    } catch (error) {
      callback(error as Error, null);
    }
  }
  return { connect: (to, callback) => void connectThrough(to, callback), proxy: encrypted ? undefined : proxy };
}

/** One bad address among good ones refuses them all. Node connects to exactly these addresses and does not look them up again. */
function checkedLookup(lookUp: LookUp, check: Check): LookupFunction {
  return (hostname, wanted, callback) => {
    lookUp(hostname, { ...wanted, all: true }, (error, addresses) => {
      // Despite its type, there are no addresses with an error.
      const [first] = addresses ?? [];
      try {
        if (error !== null) throw error;
        if (first === undefined) throw Object.assign(new Error(), { code: 'ENOTFOUND' });
        for (const { address } of addresses) check(hostname, address);
      } catch (refusal) {
        return callback(refusal as Error, []);
      }
      if (wanted.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** An address is not looked up, so the check in the lookup would not see it. */
function withLiteralsChecked(connect: buildConnector.connector, check: Check): buildConnector.connector {
  return (to, callback) => {
    try {
      if (isIP(to.hostname) !== 0) check(to.hostname, to.hostname);
    } catch (refusal) {
      return callback(refusal as Error, null);
    }
    connect(to, callback);
  };
}

/** The addresses that this machine knows. A name that only the proxy knows has none here, and the proxy judges its addresses. */
function addressesOf(hostname: string, lookUp: LookUp): Promise<string[]> {
  if (isIP(hostname) !== 0) return Promise.resolve([hostname]);
  return new Promise((resolve) => {
    lookUp(hostname, { all: true }, (error, found) => resolve(error === null ? found.map(({ address }) => address) : []));
  });
}

function unbracketed(hostname: string): string {
  return hostname.replaceAll(/^\[|\]$/g, '');
}

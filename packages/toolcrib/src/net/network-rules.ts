import { CribError } from '../model/crib-error.ts';
import { addressKind, innermost, type AddressKind } from './address-kind.ts';
import { isWithin, parseIp, parseRange, type IpRange } from './ip-address.ts';

interface Destination {
  /** As in the URL. */
  hostname: string;
  /** The address behind it: itself, or the result of the lookup. */
  address: string;
  /** The operator has named exactly this origin. */
  trusted: boolean;
  /** Whether addresses of this machine are refused, even where they are otherwise allowed. */
  refuseLoopback?: boolean | undefined;
}

/** [SEC-1] Which addresses may be connected to. */
export interface NetworkRules {
  /** Throws where the address is not allowed. */
  check(destination: Destination): void;
  /** The same for a name whose addresses are not known. */
  checkName(hostname: string): void;
}

/** A retry would not help. */
export class RefusedAddressError extends CribError {
  override name = 'RefusedAddressError';
}

type Allowed = { word: 'loopback' | 'private' } | { range: IpRange } | { host: string } | { suffix: string };

/** The names of metadata services inside clouds, where a proxy may look them up. */
const metadataNames = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal']);

const hostPattern = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** [SEC-1] Development allows private networks with a warning: `warn` gets a message for each host. */
export interface Lenience {
  warn(message: string): void;
}

export function createNetworkRules(entries: readonly string[], lenience?: Lenience): NetworkRules {
  const allowed = entries.map(parseAllowedNetwork);

  return {
    checkName(hostname) {
      if (metadataNames.has(plainName(hostname))) throw refused(hostname, 'is the name of a metadata service, which is never asked');
    },
    check({ hostname, address, trusted, refuseLoopback = false }) {
      const name = plainName(hostname);
      const written = parseIp(address);
      if (written === undefined) throw refused(hostname, `leads to ${address}, which is no address`);
      const reached = innermost(written);
      const kind = addressKind(reached);
      if (kind === 'metadata') throw refused(hostname, `${leads(name, address, kind)}, which is never asked`);
      if (refuseLoopback && kind === 'loopback')
        throw refused(hostname, `${leads(name, address, kind)}, where a server elsewhere has no business`);
      if (kind === 'public' || trusted) return;
      const allows = (entry: Allowed): boolean => {
        if ('word' in entry) return entry.word === kind;
        if ('range' in entry) return isWithin(reached, entry.range) || isWithin(written, entry.range);
        return 'host' in entry ? entry.host === name : name.endsWith(entry.suffix);
      };
      if (allowed.some(allows)) return;
      const where = leads(name, address, kind);
      if (lenience === undefined || kind !== 'private')
        throw refused(hostname, `${where}: the operator may allow it with --allow-network ${name}`);
      lenience.warn(`${hostname} ${where}. Development allows that; with an issuer it needs --allow-network ${name}`);
    },
  };
}

/** An address, a range such as 10.0.0.0/8, a host name, `*.suffix`, or one of two words. */
export function parseAllowedNetwork(entry: string): Allowed {
  const text = entry.trim().toLowerCase();
  if (text === 'loopback' || text === 'private') return { word: text };
  const range = parseRange(text.replaceAll(/^\[|\]$/g, ''));
  if (range !== undefined) return { range };
  const suffix = text.startsWith('*.') ? text.slice(1) : undefined;
  // Numbers alone are not a name: 10.1 or 10.0.0.1/8 would not do what its author means.
  const looksNumeric = /^[\d.]+$|\/|:/.test(text);
  if (!looksNumeric && hostPattern.test(suffix?.slice(1) ?? text)) return suffix === undefined ? { host: text } : { suffix };
  const message = `${JSON.stringify(entry)} is not a network: give an address, a range such as 10.0.0.0/8, a host name, *.example.org, loopback or private`;
  throw new CribError('VALIDATION_ERROR', message, { field: 'allow-network' });
}

const words: Record<AddressKind, string> = {
  public: 'a public address',
  loopback: 'an address of this machine',
  private: 'a private address',
  'link-local': 'a link-local address',
  reserved: 'a reserved address',
  metadata: 'the address of a metadata service',
};

function leads(name: string, address: string, kind: AddressKind): string {
  return `${parseIp(name) === undefined ? 'leads to' : 'is'} ${words[kind]} (${address})`;
}

function plainName(hostname: string): string {
  return hostname.toLowerCase().replaceAll(/^\[|\]$|\.$/g, '');
}

function refused(hostname: string, why: string): RefusedAddressError {
  return new RefusedAddressError('NETWORK_ERROR', `${hostname} ${why}`, { retryable: false });
}

import { isWithin, parseRange, type IpAddress, type IpRange } from './ip-address.ts';

/** Requests may go to `public` addresses; to others only where the operator allows it, and to `metadata` never. */
export type AddressKind = 'public' | 'loopback' | 'private' | 'link-local' | 'reserved' | 'metadata';

/**
 * From the special-purpose registries of IANA (RFC 6890), plus the addresses at which clouds give out credentials. The first match decides.
 * Only metadata is served in 169.254.0.0/16, under more addresses than any list has, so all of it counts as metadata.
 */
const kinds: readonly (readonly [AddressKind, IpRange])[] = (
  [
    ['metadata', '169.254.0.0/16 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::/32 fd20:ce::254 fe80::a9fe:a9fe'],
    ['loopback', '127.0.0.0/8 ::1'],
    ['private', '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7'],
    ['link-local', 'fe80::/10'],
    ['reserved', '0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24'],
    ['reserved', '224.0.0.0/4 240.0.0.0/4'],
    ['public', '0.0.0.0/0'],
    // Only 2000::/3 of IPv6 is allocated, and these parts of it for other purposes.
    ['reserved', '2001::/23 2001:db8::/32 3fff::/20'],
    ['public', '2000::/3'],
    ['reserved', '::/0'],
  ] as const
).flatMap(([kind, ranges]) => ranges.split(' ').map((range) => [kind, rangeOf(range)] as const));

/** IPv6 ranges that embed an IPv4 address: at which bit it begins, and whether it is inverted. */
const embeddings: readonly (readonly [range: IpRange, at: number, inverted?: true])[] = [
  // RFC 4291 §2.5.5: IPv4-mapped and IPv4-compatible; RFC 2765: IPv4-translated; RFC 6052: NAT64.
  [rangeOf('::ffff:0:0/96'), 96],
  [rangeOf('::/96'), 96],
  [rangeOf('::ffff:0:0:0/96'), 96],
  [rangeOf('64:ff9b::/96'), 96],
  // RFC 3056: 6to4. RFC 4380: Teredo.
  [rangeOf('2002::/16'), 16],
  [rangeOf('2001::/32'), 96, true],
];

export function addressKind(address: IpAddress): AddressKind {
  return kinds.find(([, range]) => isWithin(address, range))?.[0] ?? 'reserved';
}

/** The address that is reached in the end: a gateway on the way translates one into the other. */
export function innermost(address: IpAddress): IpAddress {
  // These two only look like IPv4-compatible addresses.
  if (address.family === 4 || address.value <= 1n) return address;
  const found = embeddings.find(([range]) => isWithin(address, range));
  if (found === undefined) return address;
  const [, at, inverted] = found;
  const value = (address.value >> BigInt(128 - at - 32)) & 0xff_ff_ff_ffn;
  return { family: 4, value: inverted === true ? value ^ 0xff_ff_ff_ffn : value };
}

function rangeOf(text: string): IpRange {
  const range = parseRange(text);
  if (range === undefined) throw new Error(`${text} is not a range of addresses`);
  return range;
}

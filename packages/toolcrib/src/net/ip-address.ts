import { isIP } from 'node:net';

/** An address as a number, so that a range is a comparison, however the address was written. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface IpRange extends IpAddress {
  /** The length of the prefix in bits. */
  readonly bits: number;
}

/** Undefined where the text is not an address in a plain spelling. A zone (`%eth0`) names an interface, not an address, and is ignored. */
export function parseIp(text: string): IpAddress | undefined {
  const family = isIP(text);
  if (family === 4) return { family, value: valueOf(text.split('.').map(Number), 8) };
  return family === 6 ? { family, value: valueOf(groupsOf(text.replace(/%.*$/, '')), 16) } : undefined;
}

/** `10.0.0.0/8`, or one address. Undefined for anything else, and for a range that does not begin with its first address. */
export function parseRange(text: string): IpRange | undefined {
  const [, written = '', length] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseIp(written);
  if (address === undefined) return undefined;
  const bits = length === undefined ? sizeOf(address) : Number(length);
  if (bits > sizeOf(address)) return undefined;
  const range = { ...address, bits };
  return address.value === firstOf(range) ? range : undefined;
}

export function isWithin({ family, value }: IpAddress, range: IpRange): boolean {
  return family === range.family && firstOf({ family, value, bits: range.bits }) === range.value;
}

function sizeOf({ family }: IpAddress): number {
  return family === 4 ? 32 : 128;
}

function firstOf(range: IpRange): bigint {
  const free = BigInt(sizeOf(range) - range.bits);
  return (range.value >> free) << free;
}

function valueOf(groups: readonly number[], bits: number): bigint {
  return groups.reduce((value, group) => (value << BigInt(bits)) | BigInt(group), 0n);
}

/** The eight groups of an IPv6 address: `::` leaves some out, and the last two may be written as an IPv4 address. */

function groupsOf(text: string): number[] {
  const plain = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
  const [front, back] = plain.split('::').map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))));
  if (front === undefined || back === undefined) return front ?? [];
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}

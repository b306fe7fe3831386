import { describe, expect, test } from 'vitest';
import { addressKind, innermost } from '../../src/net/address-kind.ts';
import { isWithin, parseIp, parseRange } from '../../src/net/ip-address.ts';
import { createNetworkRules, parseAllowedNetwork } from '../../src/net/network-rules.ts';

const words = (text: string) => text.trim().split(/\s+/);

const kindOf = (text: string) => {
  const address = parseIp(text);
  return address && addressKind(innermost(address));
};

describe('the kind of an address', () => {
  const kinds: Record<string, string[]> = {
    public: words(`
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.167.0.1
    198.17.255.255 198.20.0.0 223.255.255.255 2606:4700::1111 2a00:1450:4001::200e ::ffff:8.8.8.8 64:ff9b::808:808
    2002:808:808::1 2001:0:4136:e378:8000:63bf:f7f7:f7f7
  `),
    loopback: words(`
    127.0.0.1 127.255.255.254 ::1 0:0:0:0:0:0:0:1 ::ffff:127.0.0.1 ::FFFF:7F00:1 ::127.0.0.1 64:ff9b::7f00:1
    2002:7f00:1:: 2001:0:4136:e378:8000:63bf:80ff:fffe ::ffff:0:127.0.0.1 ::1%lo
  `),
    private: words(`
    10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 fc00::1 fd12:3456::1 ::ffff:10.1.2.3 ::10.1.2.3
    64:ff9b::192.168.1.1 2002:a00:1::1
  `),
    'link-local': ['fe80::1', 'febf::1', 'fe80::1%eth0'],
    reserved: words(`
    0.0.0.0 0.1.2.3 100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255
    198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ff02::1 fec0::1 2001:db8::1
    3fff::1 2001:2::1 2001:10::1 100::1 64:ff9b:1::a00:1 4000::1 5f00::1 ::ffff:0.0.0.0
  `),
    metadata: words(`
    169.254.169.254 169.254.170.2 169.254.0.1 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254
    ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe:: fe80::a9fe:a9fe
    2001:0:4136:e378:8000:63bf:5601:5601
  `),
  };
  test.each(Object.entries(kinds).flatMap(([kind, addresses]) => addresses.map((address) => [address, kind] as const)))(
    '[SEC-1] of %s is %s',
    (address, kind) => expect(kindOf(address)).toBe(kind),
  );

  test.each(['', 'localhost', '127.1', '0x7f000001', '1.2.3.4.5', '[::1]', '::g', '12345::', '1.2.3.4 '])(
    'does not exist for %j',
    (text) => {
      expect(parseIp(text)).toBeUndefined();
    },
  );
});

describe('a network range', () => {
  test.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['0.0.0.0/0', '::1', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3/32', '10.1.2.4', false],
    ['fd00::/8', 'fdff::1', true],
    ['::/0', '::', true],
  ])('%s contains %s: %s', (range, address, expected) => {
    const [parsedRange, parsedAddress] = [parseRange(range), parseIp(address)];
    expect(parsedRange && parsedAddress && isWithin(parsedAddress, parsedRange)).toBe(expected);
  });

  test.each(['10.0.0.1/8', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0/8', '/8', '10.0.0.0/-1', 'fe80::1%eth0/64', '10.0.0.0/8/8'])(
    '%s is refused',
    (text) => expect(parseRange(text)).toBeUndefined(),
  );
});

describe('the allowed networks', () => {
  const allows = (entries: string[], hostname: string, address: string, more: { trusted?: boolean; refuseLoopback?: boolean } = {}) => {
    try {
      createNetworkRules(entries).check({ hostname, address, trusted: false, ...more });
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'NETWORK_ERROR', retryable: false, message: expect.stringContaining(hostname) });
      return false;
    }
  };

  test.each<[entries: string[], hostname: string, address: string, allowed: boolean]>([
    [[], 'example.org', '93.184.215.14', true],
    [[], 'db.corp', '10.1.2.3', false],
    [['private'], 'db.corp', '10.1.2.3', true],
    [['private'], 'db.corp', 'fd12::1', true],
    [['private'], 'localhost', '127.0.0.1', false],
    [['private'], 'shared.corp', '100.64.0.1', false],
    [['loopback'], 'localhost', '::1', true],
    [['loopback'], '0.0.0.0', '0.0.0.0', false],
    [['loopback'], 'db.corp', '10.1.2.3', false],
    [['10.1.0.0/16'], 'db.corp', '10.1.2.3', true],
    [['10.1.0.0/16'], 'db.corp', '::ffff:10.1.2.3', true],
    [['10.1.0.0/16'], 'db.corp', '64:ff9b::a01:203', true],
    [['10.1.0.0/16'], 'db.corp', '10.2.2.3', false],
    [['10.1.2.3'], '10.1.2.3', '10.1.2.3', true],
    [['[fd12::1]'], 'db.corp', 'fd12::1', true],
    [['db.corp'], 'db.corp', '10.1.2.3', true],
    [['DB.Corp'], 'db.CORP.', '10.1.2.3', true],
    [['db.corp'], 'x.db.corp', '10.1.2.3', false],
    [['*.corp'], 'x.db.corp', '10.1.2.3', true],
    [['*.corp'], 'corp', '10.1.2.3', false],
    [['*.corp'], 'xcorp', '10.1.2.3', false],
    [['0.0.0.0/0', '::/0', 'private', 'loopback', 'sly.corp'], 'sly.corp', '169.254.169.254', false],
    [['169.254.169.254', '169.254.0.0/16'], '169.254.169.254', '169.254.169.254', false],
    [['fd00:ec2::254'], 'fd00:ec2::254', 'fd00:ec2::254', false],
  ])('[SEC-1] in %j let %s at %s through: %s', (entries, hostname, address, allowed) => {
    expect(allows(entries, hostname, address)).toBe(allowed);
  });

  test('[SEC-1] include a trusted origin anywhere except at a metadata service', () => {
    expect(allows([], 'sso.corp', '10.1.2.3', { trusted: true })).toBe(true);
    expect(allows([], 'sso.corp', '169.254.169.254', { trusted: true })).toBe(false);
  });

  test('[SEC-1] never include this machine where it is excluded', () => {
    expect(allows(['loopback', '127.0.0.1'], 'evil.test', '127.0.0.1', { refuseLoopback: true, trusted: true })).toBe(false);
    expect(allows(['private'], 'db.corp', '10.1.2.3', { refuseLoopback: true })).toBe(true);
  });

  test('are named in a refusal that says what to do', () => {
    const { check } = createNetworkRules([]);
    const destination = { trusted: false };
    expect(() => check({ ...destination, hostname: '10.1.2.3', address: '10.1.2.3' })).toThrow(
      '10.1.2.3 is a private address (10.1.2.3): the operator may allow it with --allow-network 10.1.2.3',
    );
    expect(() => check({ ...destination, hostname: 'db.corp', address: '10.1.2.3' })).toThrow(
      'db.corp leads to a private address (10.1.2.3): the operator may allow it with --allow-network db.corp',
    );
    expect(() => check({ ...destination, hostname: 'sly.test', address: '169.254.169.254' })).toThrow(/never asked/);
  });

  test.each([
    '',
    ' ',
    '10.1',
    '10.0.0.1/8',
    '10.0.0.0/33',
    'http://db.corp',
    'db.corp:5432',
    '*',
    '*.',
    'a..b',
    '*.*.corp',
    'db corp',
    '-a.corp',
  ])('cannot be %j', (entry) => expect(() => parseAllowedNetwork(entry)).toThrow(/is not a network: give/));
});

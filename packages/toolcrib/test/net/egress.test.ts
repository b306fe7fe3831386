import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEgress, type Egress } from '../../src/net/egress.ts';
import { readBody } from '../../src/net/read-body.ts';
import { endlessAnswer, startHttpServer } from '../fixtures/http-server.ts';

const words = (text: string) => text.trim().split(/\s+/);

const limits = { maxBytes: 1000, timeoutMs: 20_000, allowInsecure: true };

/** One listener on all addresses of this machine, which counts who comes. */
let listener: Server;
let port: number;
let connections = 0;
const sockets = new Set<Socket>();

beforeAll(async () => {
  listener = createServer((_request, response) => response.end('reached')).listen(0);
  listener.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await once(listener, 'listening');
  ({ port } = listener.address() as AddressInfo);
});
beforeEach(() => void (connections = 0));
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  listener.close();
});

/** Asks in every way there is, and gives the reasons why nobody was asked. */
async function refusals(egress: Egress, url: string): Promise<string[]> {
  const target = new URL(url);
  const client = egress.httpClient({ origin: target.origin });
  const guarded = egress.guardedFetch({ allowInsecure: true, allowLoopback: true });
  const failed = (error: unknown) => (error instanceof TypeError ? (error.cause as Error) : (error as Error)).message;
  const asked = [
    egress.fetchDocument(url, limits),
    client.request({ method: 'GET', url: target, headers: {} }).then((response) => readBody(response, 1000)),
    guarded(url),
  ];
  const reasons = await Promise.all(asked.map((answer) => answer.then(() => 'reached', failed)));
  await client.destroy();
  return reasons;
}

/** A resolver that gives these answers, one after the other. */
function answering(...answers: string[][]) {
  const asked: string[] = [];
  const lookUp = (hostname: string, _options: object, callback: (error: null, addresses: LookupAddress[]) => void) => {
    const answer = answers[asked.length] ?? answers.at(-1) ?? [];
    asked.push(hostname);
    callback(
      null,
      answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { asked, lookUp };
}

describe('this machine in another spelling', () => {
  const here = words(`
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7F.0x0.0x0.0x1 0177.0.0.1 0177.0.0.01 017700000001 0x7f.1
    127.0.0.1. 127.255.255.254 %31%32%37.0.0.1 127%2e0%2e0%2e1 １２７.０.０.１ 127。0。0。1 ①②⑦.0.0.1 00000177.1 localhost
    LOCALHOST loc%61lhost ｌｏｃａｌｈｏｓｔ [::1] [0:0:0:0:0:0:0:1] [0000::0001] [::0.0.0.1] [::ffff:127.0.0.1]
    [::FFFF:7F00:0001] [::127.0.0.1] [64:ff9b::127.0.0.1] [2002:7f00:1::] [::ffff:0:127.0.0.1] 0.0.0.0 0 0x0 00
    [::] [::ffff:0.0.0.0]
  `);
  test.each(here)('[SEC-1] is refused before a connection: %s', async (host) => {
    const reasons = await refusals(createEgress({}), `http://${host}:${port}/`);
    for (const reason of reasons) expect(reason).toMatch(/(is|leads to) (an address of this machine|a reserved address) .*--allow-network/);
    expect(connections).toBe(0);
  });

  test('[SEC-1] is refused or unknown as "localhost."', async () => {
    for (const reason of await refusals(createEgress({}), `http://localhost.:${port}/`)) expect(reason).toMatch(/this machine|unknown/);
    expect(connections).toBe(0);
  });

  test.each(['127.0.0.1', '127.1', '2130706433', '127。0。0。1', 'LOCALHOST', '127.0.0.1.'])(
    'is reached where it is allowed: %s',
    async (host) => {
      expect(await refusals(createEgress({ allowedNetworks: ['loopback'] }), `http://${host}:${port}/`)).toEqual(Array(3).fill('reached'));
      expect(connections).toBe(3);
    },
  );
});

test.each([
  '169.254.169.254',
  '[::ffff:169.254.169.254]',
  '2852039166',
  '0xA9FEA9FE',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '168.63.129.16',
])('[SEC-1] the metadata service at %s is refused, whatever is allowed or trusted', async (host) => {
  const egress = createEgress({ allowedNetworks: ['loopback', 'private', '0.0.0.0/0', '::/0'] }).trusting([`http://${host}`]);
  for (const reason of await refusals(egress, `http://${host}/latest/meta-data`)) expect(reason).toMatch(/metadata service .*never asked/);
});

describe('in development', () => {
  const lenient = () => {
    const warnings: string[] = [];
    const options = { warn: (message: string) => void warnings.push(message), privateNetworks: true };
    return { warnings, egress: createEgress({ allowedNetworks: ['loopback'], lenient: options }) };
  };

  test('[SEC-1] private addresses and plain http to other machines are allowed, with one warning each', () => {
    const { warnings, egress } = lenient();
    for (const _twice of [1, 2]) {
      expect(() => egress.checkLiteral(new URL('https://10.1.2.3/'))).not.toThrow();
      expect(egress.checkAddress('http://cml-mcp:9000', false).origin).toBe('http://cml-mcp:9000');
    }
    expect(egress.checkAddress('http://127.0.0.1:9000', false).port).toBe('9000');
    expect(egress.checkAddress('http://told.example', true).host).toBe('told.example');
    expect(warnings).toEqual([
      '10.1.2.3 is a private address (10.1.2.3). Development allows that; with an issuer it needs --allow-network 10.1.2.3',
      'http://cml-mcp:9000 is plain http on another machine. Development allows that; with an issuer it needs allow_insecure',
    ]);
  });

  test.each(['169.254.169.254', '[::ffff:169.254.169.254]', '[fd00:ec2::254]'])(
    '[SEC-1] the metadata service at %s is refused',
    async (host) => {
      const { warnings, egress } = lenient();
      for (const reason of await refusals(egress, `http://${host}/`)) expect(reason).toMatch(/never asked/);
      expect(warnings).toEqual([]);
    },
  );

  test.each(['0.0.0.0', '[fe80::1]', '100.64.0.1'])('[SEC-1] %s is refused, because it is not a private network', (host) => {
    expect(() => lenient().egress.checkLiteral(new URL(`https://${host}/`))).toThrow('--allow-network');
  });

  test('[SEC-1] explicitly allowed networks replace the default', () => {
    const egress = createEgress({ allowedNetworks: ['loopback'], lenient: { warn: () => undefined, privateNetworks: false } });
    expect(() => egress.checkLiteral(new URL('https://10.1.2.3/'))).toThrow('--allow-network 10.1.2.3');
    expect(() => egress.checkAddress('ftp://cml-mcp', false)).toThrow('Only https addresses');
    expect(() => egress.checkAddress('http://a:b@cml-mcp', false)).toThrow('user name or password');
  });
});

describe('a host name', () => {
  test('[SEC-1] that resolves to a good address and a bad one is refused', async () => {
    const { lookUp } = answering(['93.184.215.14', '127.0.0.1']);
    for (const reason of await refusals(createEgress({ lookUp }), `http://mixed.test:${port}/`)) {
      expect(reason).toContain('mixed.test leads to an address of this machine (127.0.0.1)');
    }
    expect(connections).toBe(0);
  });

  test('[SEC-1] that changes its answer is judged by the address that is used, and resolved once per connection', async () => {
    const { asked, lookUp } = answering(['127.0.0.1'], ['10.1.2.3']);
    const client = createEgress({ lookUp, allowedNetworks: ['loopback'] }).httpClient({
      origin: `http://flips.test:${port}`,
      maxConnections: 1,
    });
    const get = () => client.request({ method: 'GET', url: new URL(`http://flips.test:${port}/`), headers: {} });
    expect(await readBody(await get(), 100)).toBe('reached');
    expect(await readBody(await get(), 100)).toBe('reached');
    expect(asked).toHaveLength(1);
    for (const socket of sockets) socket.destroy();
    // The kept connection may be seen to be gone before or after it is used once more.
    await get().catch(() => undefined);
    await expect(get()).rejects.toThrow('flips.test leads to a private address (10.1.2.3)');
    await client.destroy();
  });

  test('[SEC-1] can be allowed as such, wherever it leads', async () => {
    const { lookUp } = answering(['127.0.0.1']);
    const egress = createEgress({ lookUp, allowedNetworks: ['*.corp.test'] });
    expect(await refusals(egress, `http://a.corp.test:${port}/`)).toEqual(Array(3).fill('reached'));
    expect(await refusals(egress, `http://b.other.test:${port}/`)).not.toContain('reached');
  });
});

describe('an origin that the operator has named', () => {
  test('[SEC-1] is reachable, and no other port of the same machine', async () => {
    const egress = createEgress({}).trusting([`http://127.0.0.1:${port}/realms/acme`]);
    expect(await refusals(egress, `http://127.0.0.1:${port}/`)).toEqual(Array(3).fill('reached'));
    const elsewhere = createEgress({}).trusting([`http://127.0.0.1:${port + 1}`]);
    expect(await refusals(elsewhere, `http://127.0.0.1:${port}/`)).not.toContain('reached');
    expect(connections).toBe(3);
  });
});

test('[SEC-1] an address named by another machine cannot lead back here, even where this machine is allowed', async () => {
  const { lookUp } = answering(['127.0.0.1']);
  const guarded = createEgress({ lookUp, allowedNetworks: ['loopback', 'sly.test'] }).guardedFetch({
    allowInsecure: true,
    allowLoopback: false,
  });
  for (const host of ['127.0.0.1', 'sly.test']) {
    await expect(guarded(`http://${host}:${port}/`)).rejects.toMatchObject({ cause: { message: expect.stringContaining('this machine') } });
  }
  expect(connections).toBe(0);
});

test.each([
  ['http://10.1.2.3/mcp', /private address/],
  ['https://[::ffff:10.1.2.3]/mcp', /private address/],
  ['http://0x7f.1/mcp', /of this machine/],
  ['https://169.254.169.254/', /metadata/],
])('%s can be refused without a connection', (url, reason) => {
  expect(() => createEgress({}).checkLiteral(new URL(url))).toThrow(reason);
});

test('a name is not judged before it is resolved', () => {
  expect(() => createEgress({}).checkLiteral(new URL('https://localhost/'))).not.toThrow();
  expect(() => createEgress({ allowedNetworks: ['private'] }).checkLiteral(new URL('https://10.1.2.3/'))).not.toThrow();
});

describe('a document that a library fetches', () => {
  const guarded = createEgress({ allowedNetworks: ['loopback'] }).guardedFetch({
    allowInsecure: false,
    allowLoopback: true,
    maxBytes: 1_048_576,
    timeoutMs: 2000,
  });
  const causeOf = async (answer: Promise<unknown>) => ((await answer.catch((error: unknown) => error)) as Error).cause;

  test('[SEC-1] is cut off if it has no end', async () => {
    const { handle, sentBytes } = endlessAnswer();
    await using server = await startHttpServer(handle);
    expect(await causeOf(guarded(server.origin))).toMatchObject({ message: expect.stringContaining('larger than the 1048576 bytes') });
    // Only the socket buffers of both ends hold more than the limit.
    expect(await sentBytes).toBeLessThan(32 * 1_048_576);
  });

  test('[SEC-1] has to be complete in time, however slowly it comes', async () => {
    await using server = await startHttpServer((_request, response) => {
      const drip = setInterval(() => response.write('.'), 5);
      response.on('close', () => clearInterval(drip));
    });
    expect(await causeOf(guarded(server.origin))).toMatchObject({ message: `${server.origin} did not answer in time` });
  });

  test('[SEC-1] is not decompressed, because no compression was requested', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576));
    await using server = await startHttpServer((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    expect(await causeOf(guarded(server.origin))).toMatchObject({ message: expect.stringContaining('was not asked for') });
  });

  test('[SEC-1] is not followed to another origin', async () => {
    await using server = await startHttpServer((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end(),
    );
    expect(await causeOf(guarded(server.origin))).toMatchObject({ message: expect.stringContaining('redirect that is not followed') });
    expect(connections).toBe(0);
  });
});

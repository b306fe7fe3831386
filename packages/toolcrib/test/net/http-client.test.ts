import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createRawServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { ProtocolError } from '../../src/model/named-errors.ts';
import { EndSwitch } from '../../src/model/end-signal.ts';

import { readBody } from '../../src/net/read-body.ts';
import { loopbackEgress } from '../fixtures/loopback-egress.ts';

const started: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0)) await stop();
});

async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = loopbackEgress.httpClient({ origin });
  started.push(async () => {
    await client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const get = (path = '/', signal?: EndSwitch) => client.request({ method: 'GET', url: new URL(path, origin), headers: {}, signal });
  return { get, server };
}

describe('the body of an answer', () => {
  test('is read whole, in any pieces', async () => {
    const { get } = await serving((_request, response) => {
      response.write('Gr');
      setImmediate(() => response.end('üße'));
    });
    expect(await readBody(await get(), 100)).toBe('Grüße');
  });

  test('is refused at the first byte too many, with or without a length', async () => {
    const { get } = await serving((request, response) => {
      if (request.url === '/declared') response.setHeader('content-length', 11);
      response.write('0123456789');
      response.end('x');
    });
    for (const path of ['/declared', '/streamed']) {
      await expect(readBody(await get(path), 10)).rejects.toThrow('larger than the 10 bytes');
      expect(await readBody(await get(path), 11)).toBe('0123456789x');
    }
  });

  test('that is cut off is an error, not a short answer', async () => {
    const { get } = await serving((_request, response) => {
      response.setHeader('content-length', 100);
      response.write('part', () => response.destroy());
    });
    const response = await get();
    await expect(readBody(response, 1000)).rejects.toThrow(/terminated|closed/);
  });

  test('comes no faster than it is read', async () => {
    const piece = Buffer.alloc(65_536, 'x');
    const pieces = 1000;
    let sent = 0;
    const { get } = await serving((_request, response) => {
      const more = () => {
        while (sent < pieces) {
          sent++;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const { body } = await get();
    let size = 0;
    let mostUnread = 0;
    for await (const chunk of body) {
      // Everything that can arrive has arrived by now.
      await nextTurn();
      mostUnread = Math.max(mostUnread, sent * piece.length - size);
      size += chunk.length;
    }
    expect(size).toBe(pieces * piece.length);
    // The buffers of the system do not count.
    expect(mostUnread).toBeLessThan(size / 2);
  });

  test('can be abandoned half-way, and the next request works', async () => {
    const { get } = await serving((request, response) => {
      response.write('first');
      if (request.url === '/whole') response.end();
    });
    const { body } = await get('/endless');
    for await (const chunk of body) {
      expect(String(chunk)).toBe('first');
      break;
    }
    expect(await readBody(await get('/whole'), 100)).toBe('first');
  });

  test('without an end is not drained forever', async () => {
    const { get } = await serving((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', more);
      more();
    });
    expect(await (await get()).body.dump()).toBeUndefined();
  });
});

describe('a signal', () => {
  test('ends a request that has no answer yet, with its reason', async () => {
    const { get, server } = await serving(() => undefined);
    const ending = new EndSwitch();
    const asked = get('/', ending);
    await once(server, 'request');
    ending.end(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });

  test('that was already aborted ends the request at once', async () => {
    const { get } = await serving((_request, response) => void response.end());
    const ending = new EndSwitch();
    ending.end(new Error('never mind'));
    await expect(get('/', ending)).rejects.toThrow('never mind');
  });

  test('ends an answer that is being read', async () => {
    const { get } = await serving((_request, response) => void response.write('begun'));
    const ending = new EndSwitch();
    const { body } = await get('/', ending);
    const read = (async () => {
      for await (const _chunk of body) ending.end(new Error('enough'));
    })();
    await expect(read).rejects.toThrow('enough');
  });
});

describe('more requests than connections', () => {
  /** One connection, and a server that answers when it is told to. */
  async function holding() {
    const asked: string[] = [];
    const waiting: ServerResponse[] = [];
    let connections = 0;
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      waiting.push(response);
      server.emit('asked');
    }).listen(0, '127.0.0.1');
    server.on('connection', () => connections++);
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = loopbackEgress.httpClient({ origin, maxConnections: 1 });
    started.push(async () => {
      await client.destroy();
      server.closeAllConnections();
      server.close();
    });
    const get = async (url: string, signal?: EndSwitch) => readBody(await client.request({ method: 'GET', url, headers: {}, signal }), 100);
    const answer = async () => {
      if (waiting.length === 0) await once(server, 'asked');
      waiting.shift()?.end('done');
    };
    return { get, answer, asked, client, connections: () => connections };
  }

  test('wait for their turn, in order', async () => {
    const { get, answer, asked, connections } = await holding();
    const all = Promise.all(['/1', '/2', '/3'].map((url) => get(url)));
    for (let turn = 0; turn < 3; turn++) await answer();
    expect(await all).toEqual(['done', 'done', 'done']);
    expect(asked).toEqual(['/1', '/2', '/3']);
    expect(connections()).toBe(1);
  });

  test('are never sent if they were given up before, and cost no connection', async () => {
    const { get, answer, asked, connections } = await holding();
    const ending = new EndSwitch();
    const [first, second, third] = [get('/1'), get('/2', ending), get('/3')];
    // The first opens the way; only then do the others wait for a connection.
    await nextTurn();
    ending.end(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await answer();
    await answer();
    expect(await Promise.all([first, third])).toEqual(['done', 'done']);
    expect(asked).toEqual(['/1', '/3']);
    expect(connections()).toBe(1);
  });

  test('go on after one that fails', async () => {
    const { get, answer, asked } = await holding();
    const ending = new EndSwitch();
    const first = get('/1', ending);
    const second = get('/2');
    while (asked.length === 0) await nextTurn();
    ending.end(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    while (asked.length === 1) await nextTurn();
    await answer();
    await answer();
    expect(await second).toBe('done');
  });

  test('fail with the client, and so do later ones', async () => {
    const { get, asked, client } = await holding();
    const all = Promise.allSettled([get('/1'), get('/2')]);
    while (asked.length === 0) await nextTurn();
    await client.destroy();
    expect(await all).toMatchObject([{ status: 'rejected' }, { reason: { message: expect.stringContaining('has been closed') } }]);
    await expect(get('/3')).rejects.toThrow('has been closed');
    expect(asked).toEqual(['/1']);
  });
});

describe('an answer with something before it', () => {
  /** Answers each request with these pieces, one after the other as far as the network keeps them apart. */
  async function saying(...pieces: string[]) {
    const sockets = new Set<Socket>();
    const server = createRawServer((socket) => {
      sockets.add(socket.setNoDelay(true));
      socket.on('error', () => undefined);
      socket.on('data', () => void pieces.reduce((before, piece) => before.then(() => said(socket, piece)), Promise.resolve()));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = loopbackEgress.httpClient({ origin, maxConnections: 1 });
    started.push(async () => {
      await client.destroy();
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return {
      ask: (method = 'GET') => client.request({ method, url: '/', headers: {}, body: method === 'POST' ? 'a' : undefined }),
      sockets,
    };
  }
  async function said(socket: Socket, piece: string): Promise<void> {
    await new Promise((resolve) => socket.write(piece, resolve));
    await nextTurn();
  }
  const interim = 'HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n';
  const body = 'HTTP/1.1 100 Continue\r\n\r\n';
  const final = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`;

  test.each<[what: string, pieces: string[]]>([
    ['in one piece', [interim + final + body]],
    ['in pieces of their own', [interim, final, body]],
    [
      'in pieces that end anywhere',
      ['HT', 'TP/1.1 10', '0 Continue\r\nX-Ea', 'rly: 1\r\n\r', `\n${final.slice(0, 9)}`, final.slice(9) + body],
    ],
    ['twice, and with other news', [interim, interim, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', final + body]],
    ['not at all', [final, body]],
  ])('[HTTP-1] may begin with an unsolicited 100 Continue, which is skipped: %s', async (_what, pieces) => {
    const { ask, sockets } = await saying(...pieces);
    for (const method of ['GET', 'POST', 'GET']) expect(await readBody(await ask(method), 100)).toBe(body);
    expect(sockets.size).toBe(1);
  });

  test.each<[what: string, answer: string, message: RegExp]>([
    [
      'more headers than are read',
      `HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`,
      /answered with more than 16 KiB of headers$/,
    ],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', /answered with something that is not HTTP$/],
  ])('[EXEC-8] with %s is not a lost connection, which would be retried', async (_what, answer, message) => {
    const { ask } = await saying(answer);
    const failure: unknown = await ask().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(failure).toMatchObject({ message: expect.stringMatching(message), retryable: false });
  });
});

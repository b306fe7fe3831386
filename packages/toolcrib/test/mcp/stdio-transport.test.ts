import { Client } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createStdioTransport, type StdioTransportOptions } from '../../src/sources/mcp/transports/stdio.ts';
import { listen, openTransport, textOf } from '../fixtures/mcp/open-transport.ts';
import { livingInGroups, said, startFixture } from '../fixtures/mcp/start-fixture.ts';

/** The SDK's own client over the transport, as sessions have it. */
async function connect(command: string, options?: Omit<StdioTransportOptions, 'process'>) {
  const fixture = await startFixture(command);
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const transport = createStdioTransport({ process: fixture.server, ...options });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const errors: Error[] = [];
  Object.assign(client, { onerror: (error: Error) => errors.push(error) });
  await client.connect(transport);
  return { ...fixture, client, transport, errors };
}

describe('with the client of the SDK', () => {
  test.each(['plain', 'noise', 'content-length', 'batches', 'pages', 'flood-stderr'])(
    '[MCP-2] [MCP-3] a server of the mode %s works',
    async (mode) => {
      const { client, server } = await connect(mode);
      expect(client.getServerVersion()).toEqual({ name: `fixture-${mode}`, version: '1.0.0' });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain(mode === 'pages' ? 'tool_7' : 'process');
      const result = await client.callTool({ name: 'echo', arguments: { text: 'grüße 😀\n"quoted"' } });
      expect(result.content).toEqual([{ type: 'text', text: 'grüße 😀\n"quoted"' }]);
      await client.close();
      expect(livingInGroups([server.pid])).toEqual([]);
    },
  );

  test('[MCP-3] a server that understands nothing but Content-Length works when it is spoken to so', async () => {
    const { client } = await connect('content-length-only', { framing: 'content-length' });
    expect((await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).content).toEqual([{ type: 'text', text: 'hi' }]);
  });

  test('[MCP-9] no progress is lost, not even the one in the same piece as the answer', async () => {
    const { client, errors } = await connect('plain');
    for (let round = 0; round < 20; round++) {
      const seen: number[] = [];
      await client.callTool({ name: 'progress', arguments: { steps: 4 } }, { onprogress: ({ progress }) => seen.push(progress) });
      expect(seen).toEqual([1, 2, 3, 4]);
    }
    expect(errors).toEqual([]);
  });

  test('[ERR-5] a server that dies in the handshake: the reason is there when connecting has failed', async () => {
    const fixture = await startFixture('crash-handshake 5 no-licence');
    onTestFinished(() => fixture[Symbol.asyncDispose]());
    const transport = createStdioTransport({ process: fixture.server });
    await expect(new Client({ name: 'test', version: '1' }).connect(transport)).rejects.toThrow('closed');
    expect(transport.lossReason?.()).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('no-licence') });
  });
});

describe('messages', () => {
  test('[MCP-3] many calls in flight are answered in any order, each by its id', async () => {
    const session = await openTransport('plain');
    const held = ['a', 'b', 'c'].map((key) => session.call('hold', { key }));
    await session.call('release', { keys: ['c', 'a', 'b'] });
    expect((await Promise.all(held)).map(textOf)).toEqual(['a', 'b', 'c']);
    expect(session.messages.map(textOf)).toEqual(['c', 'a', 'b', 'released']);
  });

  test('what is sent in one turn of the event loop is written at once', async () => {
    const session = await openTransport('plain');
    const writes: string[] = [];
    const write = session.server.stdin.write.bind(session.server.stdin);
    session.server.stdin.write = (text: string) => writes.push(text) > 0 && write(text);
    await Promise.all([1, 2, 3].map((a) => session.call('add', { a, b: 1 })));
    expect(writes).toHaveLength(1);
    expect(writes[0]?.split('\n')).toHaveLength(4);
  });

  test('the tap sees everything first, in order, and what it takes nobody else sees', async () => {
    const session = await openTransport('plain');
    const tapped: string[] = [];
    session.transport.tap = (message) => {
      tapped.push('method' in message ? message.method : 'answer');
      return !('method' in message);
    };
    const done = new Promise<void>((resolve) => {
      const note = session.transport.tap;
      session.transport.tap = (message) => {
        if (!('method' in message)) resolve();
        return note?.(message) === true;
      };
    });
    void session.call('progress', { steps: 3 }, { progressToken: 1 });
    await done;
    expect(tapped).toEqual([...Array.from({ length: 3 }, () => 'notifications/progress'), 'answer']);
    expect(session.messages).toHaveLength(3);
  });

  test('an error in whoever listens does not lose the messages after it', async () => {
    const session = await openTransport('plain');
    const { onmessage } = session.transport;
    listen(session.transport, {
      onmessage() {
        listen(session.transport, { onmessage });
        throw new Error('in the listener');
      },
    });
    void session.call('echo', { text: 'lost on the listener' });
    expect(textOf(await session.call('echo', { text: 'next' }))).toBe('next');
    expect(session.errors).toMatchObject([{ message: 'in the listener' }]);
  });

  test('a huge answer arrives whole', async () => {
    const session = await openTransport('plain');
    expect(textOf(await session.call('huge', { bytes: 20_000_000 }))).toHaveLength(20_000_000);
  });

  test.each(['result', 'both', 'version'])(
    '[ERR-9] an answer that is invalid (%s) fails its call at once, and the details are logged',
    async (how) => {
      const session = await openTransport('plain');
      const answer = await session.call('invalid', { how });
      expect(answer).toMatchObject({ error: { message: expect.stringContaining('invalid MCP message') } });
      expect(await said(session.log, 'Skipped on standard output')).toContain('"id":1');
      expect(textOf(await session.call('echo', { text: 'still here' }))).toBe('still here');
    },
  );

  test('[MCP-3] noise in the middle of a call is logged and stalls nothing', async () => {
    const session = await openTransport('plain');
    expect(textOf(await session.call('invalid', { how: 'text' }))).toBe('after the noise');
    expect(await said(session.log, 'not a message at all')).toBe('Skipped on standard output: it is not JSON: not a message at all');
  });

  test('a server asks in the middle of a call and is answered', async () => {
    const session = await openTransport('plain');
    const { onmessage, send } = session.transport;
    listen(session.transport, {
      onmessage(message) {
        onmessage?.(message);
        if (!('method' in message) || !('id' in message)) return;
        void send.call(session.transport, { jsonrpc: '2.0', id: message.id, result: { action: 'decline' } });
      },
    });
    expect(textOf(await session.call('elicit'))).toBe('{"action":"decline"}');
  });

  test('[MCP-3] stderr goes to the log of the source', async () => {
    const session = await openTransport('plain');
    await session.call('stderr', { text: 'a word of its own' });
    expect(await said(session.log, 'a word')).toBe('a word of its own');
  });
});

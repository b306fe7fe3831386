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

  test('[MCP-3] a server that understands only Content-Length works when it is addressed that way', async () => {
    const { client } = await connect('content-length-only', { framing: 'content-length' });
    expect((await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).content).toEqual([{ type: 'text', text: 'hi' }]);
  });

  test('[MCP-9] no progress is lost, not even in the same piece as the answer', async () => {
    const { client, errors } = await connect('plain');
    for (let round = 0; round < 20; round++) {
      const seen: number[] = [];
      await client.callTool({ name: 'progress', arguments: { steps: 4 } }, { onprogress: ({ progress }) => seen.push(progress) });
      expect(seen).toEqual([1, 2, 3, 4]);
    }
    expect(errors).toEqual([]);
  });

  test('[ERR-5] the reason is known when a server dies in the handshake', async () => {
    const fixture = await startFixture('crash-handshake 5 no-licence');
    onTestFinished(() => fixture[Symbol.asyncDispose]());
    const transport = createStdioTransport({ process: fixture.server });
    await expect(new Client({ name: 'test', version: '1' }).connect(transport)).rejects.toThrow('closed');
    expect(transport.loss?.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('no-licence') });
  });
});

describe('messages over stdio', () => {
  test('[MCP-3] are answered in any order, each by its id, with many calls in flight', async () => {
    const session = await openTransport('plain');
    const held = ['a', 'b', 'c'].map((key) => session.call('hold', { key }));
    await session.call('release', { keys: ['c', 'a', 'b'] });
    expect((await Promise.all(held)).map(textOf)).toEqual(['a', 'b', 'c']);
    expect(session.messages.map(textOf)).toEqual(['c', 'a', 'b', 'released']);
  });

  test('that are sent in one turn of the event loop are written at once', async () => {
    const session = await openTransport('plain');
    const writes: string[] = [];
    const write = session.server.stdin.write.bind(session.server.stdin);
    session.server.stdin.write = (text: string) => writes.push(text) > 0 && write(text);
    await Promise.all([1, 2, 3].map((a) => session.call('add', { a, b: 1 })));
    expect(writes).toHaveLength(1);
    expect(writes[0]?.split('\n')).toHaveLength(4);
  });

  test('pass the tap first, in order, and those it takes are seen by nobody else', async () => {
    const session = await openTransport('plain');
    const tapped: string[] = [];
    const answered = Promise.withResolvers<void>();
    session.transport.tap = {
      take(message) {
        tapped.push('method' in message ? message.method : 'answer');
        if (!('method' in message)) answered.resolve();
        return !('method' in message);
      },
    };
    void session.call('progress', { steps: 3 }, { progressToken: 1 });
    await answered.promise;
    expect(tapped).toEqual([...Array.from({ length: 3 }, () => 'notifications/progress'), 'answer']);
    expect(session.messages).toHaveLength(3);
  });

  test('are not lost after a listener throws', async () => {
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

  test('may be huge and arrive whole', async () => {
    const session = await openTransport('plain');
    expect(textOf(await session.call('huge', { bytes: 20_000_000 }))).toHaveLength(20_000_000);
  });

  test.each(['result', 'both', 'version'])(
    '[ERR-9] that are invalid answers (%s) fail their call at once, and the details are logged',
    async (how) => {
      const session = await openTransport('plain');
      const answer = await session.call('invalid', { how });
      expect(answer).toMatchObject({ error: { message: expect.stringContaining('invalid MCP message') } });
      expect(await said(session.log, 'Skipped on standard output')).toContain('"id":1');
      expect(textOf(await session.call('echo', { text: 'still here' }))).toBe('still here');
    },
  );

  test('[MCP-3] are not stalled by noise in the middle of a call, which is logged', async () => {
    const session = await openTransport('plain');
    expect(textOf(await session.call('invalid', { how: 'text' }))).toBe('after the noise');
    expect(await said(session.log, 'not a message at all')).toBe('Skipped on standard output: it is not JSON: not a message at all');
  });

  test('can be questions of the server in the middle of a call, which are answered', async () => {
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

  test('[MCP-3] are separate from stderr, which goes to the log of the source', async () => {
    const session = await openTransport('plain');
    await session.call('stderr', { text: 'a word of its own' });
    expect(await said(session.log, 'a word')).toBe('a word of its own');
  });
});

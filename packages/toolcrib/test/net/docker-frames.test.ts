import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { array, assert, nat, property } from 'fast-check';
import { expect, test } from 'vitest';
import { FrameReader } from '../../src/net/docker/frame-reader.ts';
import { MessageReader } from '../../src/sources/mcp/transports/message-reader.ts';

const messages: JSONRPCMessage[] = [
  { jsonrpc: '2.0', id: 1, result: { text: 'Zürich → 東京 🍕' } },
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'a', progress: 1 } },
  { jsonrpc: '2.0', id: 'two', error: { code: -32000, message: 'a\nline' } },
];
const words = 'something on standard error, ünïcode too\n';
const kinds = { stdout: 1, stderr: 2 };

function frame(stream: 'stdout' | 'stderr', contents: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header[0] = kinds[stream];
  header.writeUInt32BE(contents.length, 4);
  return Buffer.concat([header, contents]);
}

/** Three messages over frames that end anywhere but at a message's end, with words on standard error and an empty frame between them. */
function stream(): Buffer {
  const lines = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  const heard = Buffer.from(words);
  return Buffer.concat([
    frame('stderr', heard.subarray(0, 5)),
    frame('stdout', lines.subarray(0, 40)),
    frame('stdout', Buffer.alloc(0)),
    frame('stderr', heard.subarray(5, 32)),
    frame('stdout', lines.subarray(40, 41)),
    frame('stdout', lines.subarray(41)),
    frame('stderr', heard.subarray(32)),
  ]);
}

function read(pieces: readonly Buffer[]): { messages: JSONRPCMessage[]; words: string } {
  const found: JSONRPCMessage[] = [];
  const said: Buffer[] = [];
  const fail = (noise: unknown) => expect.fail(JSON.stringify(noise));
  const reader = new MessageReader({ onMessage: (message) => found.push(message), onNoise: fail });
  const frames = new FrameReader((stream, piece) => void (stream === 'stdout' ? reader.push(piece) : said.push(Buffer.from(piece))));
  for (const piece of pieces) frames.push(piece);
  return { messages: found, words: Buffer.concat(said).toString('utf8') };
}

test('[MCP-4] a stream cut at any byte position gives the same messages', () => {
  const whole = stream();
  for (let at = 0; at <= whole.length; at++) {
    expect(read([whole.subarray(0, at), whole.subarray(at)]), `cut at ${at}`).toEqual({ messages, words });
  }
});

test('[MCP-4] a stream in pieces of any one size, or of any sizes, gives the same messages', () => {
  const whole = stream();
  for (let size = 1; size <= whole.length; size++) {
    const count = Math.ceil(whole.length / size);
    const pieces = Array.from({ length: count }, (_, index) => whole.subarray(index * size, (index + 1) * size));
    expect(read(pieces), `pieces of ${size}`).toEqual({ messages, words });
  }
  const cuts = array(nat(whole.length), { maxLength: 30 });
  assert(
    property(cuts, (positions) => {
      const ends = [0, ...positions.toSorted((a, b) => a - b), whole.length];
      const pieces = ends.slice(1).map((end, index) => whole.subarray(ends[index], end));
      expect(read(pieces)).toEqual({ messages, words });
    }),
  );
});

test('[MCP-4] a large frame is passed on as it comes, and never buffered', () => {
  const sizes: number[] = [];
  const frames = new FrameReader((_, piece) => void sizes.push(piece.length));
  const header = Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
  frames.push(header);
  for (let piece = 0; piece < 3; piece++) frames.push(Buffer.alloc(1000));
  expect(sizes).toEqual([1000, 1000, 1000]);
});

test.each([
  ['a terminal', Buffer.from('{"jsonrpc":"2.0"}\n')],
  ['an unknown kind of frame', Buffer.from([3, 0, 0, 0, 0, 0, 0, 1, 65])],
  ['a header whose zeros are none', Buffer.from([1, 0, 1, 0, 0, 0, 0, 1, 65])],
])('[MCP-4] %s is reported as not a stream of frames', (_, bytes) => {
  const frames = new FrameReader(() => undefined);
  expect(() => frames.push(bytes)).toThrow(/did not send a multiplexed stream/);
});

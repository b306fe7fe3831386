import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { ProtocolError } from '../../../model/named-errors.ts';
import { answeredId, problemOf } from './json-rpc.ts';

/** How messages are told apart: one per line, or each after a header that says how long it is. */
export type Framing = 'lines' | 'content-length';

/** Something on the channel that is no message. */
export interface Noise {
  reason: string;
  /** How it begins. */
  text: string;
  /** The request it seems to be meant as an answer for. */
  answers: string | number | null;
}

export interface MessageReaderOptions {
  onMessage(message: JSONRPCMessage): void;
  onNoise(noise: Noise): void;
  maxMessageBytes?: number;
}

const defaultMaxMessageBytes = 32 * 1024 * 1024;
const noiseShown = 500;
const newline = 0x0a;

/**
 * [MCP-3] Reads messages out of bytes that come in any pieces. Which framing the server uses shows in what it sends first. Bytes are looked
 * at once and copied at most once, so a large message in small pieces costs no more than its size. `push` throws when a message is longer
 * than allowed; nothing after that can be understood.
 */
export class MessageReader {
  readonly #options: MessageReaderOptions;
  readonly #maxBytes: number;
  #framing: Framing | null = null;
  /** The pieces of the line or body that has begun. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The header that is being read, or null. */
  #header: { text: string; length: number } | null = null;
  /** How long the body is that comes now; 0 while reading lines. */
  #bodyBytes = 0;

  constructor(options: MessageReaderOptions) {
    this.#options = options;
    this.#maxBytes = options.maxMessageBytes ?? defaultMaxMessageBytes;
  }

  /** Null until the first message. */
  get framing(): Framing | null {
    return this.#framing;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) at = this.#bodyBytes > 0 ? this.#readBody(chunk, at) : this.#readLine(chunk, at);
  }

  #readLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(newline, at);
    if (end < 0) this.#hold(chunk.subarray(at));
    else this.#onLine(this.#take(chunk, at, end));
    return end < 0 ? chunk.length : end + 1;
  }

  #readBody(chunk: Buffer, at: number): number {
    if (this.#heldBytes === 0 && !beginsJson(chunk[at])) {
      this.#bodyBytes = 0;
      this.#noise('a header without a message after it', this.#header?.text ?? '');
      this.#header = null;
      return at;
    }
    const end = Math.min(chunk.length, at + this.#bodyBytes - this.#heldBytes);
    if (this.#heldBytes + end - at < this.#bodyBytes) {
      this.#hold(chunk.subarray(at));
      return end;
    }
    const text = this.#take(chunk, at, end);
    this.#bodyBytes = 0;
    this.#header = null;
    this.#onText(text, 'content-length');
    return end;
  }

  #hold(piece: Buffer): void {
    this.#heldBytes += piece.length;
    if (this.#heldBytes > this.#maxBytes) throw tooLong(this.#maxBytes);
    this.#held.push(piece);
  }

  /** Everything held and the end of it; decoded as a whole, so no character is ever cut. */
  #take(chunk: Buffer, at: number, end: number): string {
    if (this.#heldBytes + end - at > this.#maxBytes) throw tooLong(this.#maxBytes);
    if (this.#heldBytes === 0) return chunk.toString('utf8', at, end);
    this.#held.push(chunk.subarray(at, end));
    const text = Buffer.concat(this.#held).toString('utf8');
    this.#held = [];
    this.#heldBytes = 0;
    return text;
  }

  #onLine(line: string): void {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    if (this.#header !== null && this.#onHeaderLine(text)) return;
    if (text.trim() === '') return;
    if (this.#framing !== 'lines' && this.#beginsHeader(text)) return;
    this.#onText(text, 'lines');
  }

  /** False where the line is no part of a header, which then was none. */
  #onHeaderLine(text: string): boolean {
    const header = this.#header as { text: string; length: number };
    if (text === '') {
      this.#bodyBytes = header.length;
      if (header.length === 0) this.#header = null;
      if (header.length > this.#maxBytes) throw tooLong(this.#maxBytes);
      return true;
    }
    if (!/^[\w-]{1,100}\s*:/.test(text)) {
      this.#noise('a header without a message after it', header.text);
      this.#header = null;
      return false;
    }
    const length = lengthIn(text);
    if (length !== null) header.length = length;
    return true;
  }

  #beginsHeader(text: string): boolean {
    // A server that is known to send headers may have printed something before one, without ending the line.
    const at = text.search(this.#framing === 'content-length' ? /content-length\s*:\s*\d{1,15}\s*$/i : /^content-(?:length|type)\s*:/i);
    if (at < 0) return false;
    if (at > 0) this.#noise('it is not JSON', text.slice(0, at));
    this.#header = { text: text.slice(at), length: lengthIn(text.slice(at)) ?? 0 };
    return true;
  }

  #onText(text: string, framing: Framing): void {
    const json = text.codePointAt(0) === 0xfeff ? text.slice(1) : text;
    const value = parseJson(json);
    if (value === undefined) return this.#noise('it is not JSON', text);
    // Revision 2025-03-26 let several messages travel as one array.
    for (const one of Array.isArray(value) && value.length > 0 ? (value as unknown[]) : [value]) {
      const problem = problemOf(one);
      if (problem !== null) {
        this.#noise(problem, text, answeredId(one));
        continue;
      }
      this.#framing ??= framing;
      this.#options.onMessage(one as JSONRPCMessage);
    }
  }

  #noise(reason: string, text: string, answers: string | number | null = null): void {
    this.#options.onNoise({ reason, text: text.slice(0, noiseShown), answers });
  }
}

/** One message as the server wants it. */
export function frame(json: string, framing: Framing): string {
  return framing === 'lines' ? `${json}\n` : `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

function lengthIn(header: string): number | null {
  const found = /^content-length\s*:\s*(\d{1,15})\s*$/i.exec(header);
  return found === null ? null : Number(found[1]);
}

/** `undefined` for what is not JSON. */
function parseJson(text: string): unknown {
  // Most of what is not JSON is seen by its first character, which is much cheaper than an exception for every line of a chatty server.
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function beginsJson(byte: number | undefined): boolean {
  return byte === 0x7b || byte === 0x5b || byte === 0x20 || byte === 0x0d || byte === newline || byte === 0xef;
}

function tooLong(maxBytes: number): ProtocolError {
  return new ProtocolError(`The server sent a message of more than ${maxBytes} bytes, which is the limit; the session with it was ended.`);
}

import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../../../model/json.ts';
import { ProtocolError } from '../../../model/named-errors.ts';

/** How messages are separated: one per line, or each after a header with its length. */
export type Framing = 'lines' | 'content-length';

/** Output that is not a message. */
export interface Noise {
  reason: string;
  /** Its beginning. */
  text: string;
  /** The request that it seems to answer. */
  answers: string | number | null;
}

export interface MessageReaderOptions {
  /** With its text, where it did not come together with others. */
  onMessage(message: JSONRPCMessage, json?: string): void;
  onNoise(noise: Noise): void;
  maxMessageBytes?: number;
}

const defaultMaxMessageBytes = 32 * 1024 * 1024;
const noiseShown = 500;
const newline = 0x0a;

/**
 * [MCP-3] Reads messages from bytes that come in any pieces. The first message shows which framing the server uses. Bytes are read once and
 * copied at most once, so a large message in small pieces costs no more than its size. `push` throws when a message is too long; nothing
 * after that can be understood.
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
  /** The length of the body that comes next; 0 while reading lines. */
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

  /** The held pieces and their end, decoded as a whole, so that no character is cut. */
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

  /** False where the line is not part of a header; then the lines before were no header either. */
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
    // A server that sends headers may have printed something before one, without a line break.
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
    // Revision 2025-03-26 allows several messages in one array.
    for (const one of Array.isArray(value) && value.length > 0 ? (value as unknown[]) : [value]) {
      const problem = problemOf(one);
      if (problem !== null) {
        this.#noise(problem, text, answeredId(one));
        continue;
      }
      this.#framing ??= framing;
      this.#options.onMessage(one as JSONRPCMessage, one === value ? json : undefined);
    }
  }

  #noise(reason: string, text: string, answers: string | number | null = null): void {
    this.#options.onNoise({ reason, text: text.slice(0, noiseShown), answers });
  }
}

/** One message in the framing of the server. */
export function frame(json: string, framing: Framing): string {
  return framing === 'lines' ? `${json}\n` : `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

function lengthIn(header: string): number | null {
  const found = /^content-length\s*:\s*(\d{1,15})\s*$/i.exec(header);
  return found === null ? null : Number(found[1]);
}

/** `undefined` for what is not JSON. */
function parseJson(text: string): unknown {
  // The first character shows most of what is not JSON, which is much cheaper than an exception for every line of a chatty server.
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
  return new ProtocolError(`The server sent a message of more than ${maxBytes} bytes, which is the limit, so the session was ended.`);
}

/** Why a value is not a JSON-RPC 2.0 message of MCP, or null where it is one. Written by hand, because every message passes here. */
export function problemOf(value: unknown): string | null {
  if (!isObject(value)) return 'it is not an object';
  if (value.jsonrpc !== '2.0') return '`jsonrpc` is not "2.0"';
  if (value.id !== undefined && !isId(value.id)) return '`id` is neither a string nor a whole number';
  if (value.method !== undefined) return problemOfRequest(value);
  if (value.id === undefined) return 'it has neither `method` nor `id`';
  if (value.error === undefined) return isObject(value.result) ? null : '`result` is not an object';
  if (value.result !== undefined) return 'it has both `result` and `error`';
  if (!isObject(value.error)) return '`error` is not an object';
  if (!Number.isSafeInteger(value.error.code)) return '`error.code` is not a whole number';
  return typeof value.error.message === 'string' ? null : '`error.message` is not a string';
}

/** The request that an answer is for, even where the rest of it is wrong. */
export function answeredId(value: unknown): string | number | null {
  return isObject(value) && value.method === undefined && isId(value.id) ? value.id : null;
}

function problemOfRequest(value: Record<string, unknown>): string | null {
  if (typeof value.method !== 'string') return '`method` is not a string';
  return value.params === undefined || isObject(value.params) ? null : '`params` is not an object';
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

import { ProtocolError } from '../../model/named-errors.ts';

/** Where a piece of an attached stream belongs. */
export type AttachedStream = 'stdout' | 'stderr';

const headerBytes = 8;

/**
 * [MCP-4] Takes an attached stream without a terminal apart: every frame is one byte that says whose it is, three zeros, four bytes for its
 * length, and its contents. Frames are cut anywhere on their way, so contents are handed on as they come and only a header is ever held.
 */
export class FrameReader {
  readonly #onPiece: (stream: AttachedStream, piece: Buffer) => void;
  readonly #header = Buffer.alloc(headerBytes);
  #headerRead = 0;
  #stream: AttachedStream = 'stdout';
  #left = 0;

  constructor(onPiece: (stream: AttachedStream, piece: Buffer) => void) {
    this.#onPiece = onPiece;
  }

  /** Throws where this is no such stream; nothing after that can be understood. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) at = this.#left > 0 ? this.#readContents(chunk, at) : this.#readHeader(chunk, at);
  }

  #readContents(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left);
    this.#left -= end - at;
    this.#onPiece(this.#stream, chunk.subarray(at, end));
    return end;
  }

  #readHeader(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#header, this.#headerRead, at);
    this.#headerRead += copied;
    if (this.#headerRead < headerBytes) return at + copied;
    this.#headerRead = 0;
    const [kind = 0] = this.#header;
    if (kind > 2 || this.#header.readUIntBE(1, 3) !== 0) {
      throw new ProtocolError('Docker did not send a multiplexed stream; is a terminal attached to it?');
    }
    // Kind 0 is the echo of the input, which no engine sends on this way; taken for output, it is at least seen.
    this.#stream = kind === 2 ? 'stderr' : 'stdout';
    this.#left = this.#header.readUInt32BE(4);
    return at + copied;
  }
}

import { ProtocolError } from '../../model/named-errors.ts';

/** Which output a piece of an attached stream belongs to. */
export type AttachedStream = 'stdout' | 'stderr';

const headerBytes = 8;

/**
 * [MCP-4] Splits an attached stream without a terminal: every frame is one byte for its kind, three zeros, four bytes for its length, and its
 * contents. Frames may arrive cut anywhere, so contents are passed on as they come and only a header is buffered.
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

  /** Throws where this is not such a stream; nothing after that can be understood. */
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
    // Kind 0 is the echo of the input, which no engine sends here; treated as output, it is at least visible.
    this.#stream = kind === 2 ? 'stderr' : 'stdout';
    this.#left = this.#header.readUInt32BE(4);
    return at + copied;
  }
}

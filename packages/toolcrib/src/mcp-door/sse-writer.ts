import type { ServerResponse } from 'node:http';

/** A client this far behind is not reading: its stream is closed rather than kept in memory. */
const maxBufferedBytes = 16 * 1024 * 1024;
/** Proxies and clients give up on streams that say nothing. */
const keepAliveMs = 15_000;

/** Writes messages as server-sent events. From here on the response belongs to it. */
export class SseWriter {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;

  constructor(response: ServerResponse, head: readonly string[]) {
    this.#response = response;
    // Proxies that collect an answer before passing it on would make a stream pointless.
    this.#response.writeHead(200, [...head, 'content-type', 'text/event-stream', 'x-accel-buffering', 'no']);
    this.#response.flushHeaders();
    this.#keepAlive = setInterval(() => this.#write(': still here\n\n'), keepAliveMs).unref();
    this.#response.once('close', () => clearInterval(this.#keepAlive));
  }

  get isClosed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** JSON has no raw line breaks, so one data line is always enough. */
  message(json: string, id?: string): void {
    this.#write(`${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${json}\n\n`);
  }

  /** Gives the client an id to come back with before there is anything to say, and says how soon. */
  prime(id: string, retryMs: number): void {
    this.#write(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  end(): void {
    if (!this.isClosed) this.#response.end();
  }

  #write(text: string): void {
    if (this.isClosed) return;
    if (this.#response.writableLength > maxBufferedBytes) this.#response.destroy();
    else this.#response.write(text);
  }
}

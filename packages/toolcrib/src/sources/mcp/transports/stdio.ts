import type { Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import { ConnectionError, ProtocolError } from '../../../model/named-errors.ts';
import { wordsInErrors } from '../process/process-exit.ts';
import type { ServerProcess } from '../process/server-process.ts';
import { invalidAnswer, type McpTransport, type Tap } from '../session/mcp-transport.ts';
import { processLoss, type SessionLoss } from '../session/session-loss.ts';
import { frame, type Framing, MessageReader, type Noise } from './message-reader.ts';
import { OrderedInbox } from './ordered-inbox.ts';

export interface StdioTransportOptions {
  process: ServerProcess;
  maxMessageBytes?: number;
  /** How many bytes may wait for a server that does not read its input. */
  maxWaitingBytes?: number;
  /** The framing we begin with. After the first message of the server we use the server's. */
  framing?: Framing;
}

/** When a pipe breaks, the process usually dies too, and how it died says more. */
const waitForExitMs = 1000;

export interface StdioTransport extends McpTransport {
  /** Whether the server has written anything at all, noise included. */
  readonly heard: boolean;
}

/** [MCP-2] [MCP-3] The transport over the standard input and output of a server. */
export function createStdioTransport(options: StdioTransportOptions): StdioTransport {
  return new ProcessTransport(options);
}

class ProcessTransport implements StdioTransport {
  onmessage?: Transport['onmessage'];
  onerror?: Transport['onerror'];
  onclose?: Transport['onclose'];
  tap: Tap | undefined;
  /** The SDK recognises stdio by this and a pid. Standard error itself goes to the log. */
  readonly stderr = null;
  readonly pid: number;
  heard = false;
  loss: SessionLoss | undefined;
  readonly #process: ServerProcess;
  readonly #reader: MessageReader;
  readonly #outbox: Outbox;
  readonly #inbox: OrderedInbox;
  /** After an unreadable message nobody knows where the next begins. */
  #broken = false;
  #state: 'new' | 'open' | 'closed' = 'new';

  constructor({ process, maxMessageBytes, maxWaitingBytes, framing = 'lines' }: StdioTransportOptions) {
    this.#process = process;
    this.pid = process.pid;
    this.#reader = new MessageReader({
      maxMessageBytes,
      onMessage: (message, json) => this.#receive(message, json),
      onNoise: (noise) => this.#ignore(noise),
    });
    this.#outbox = new Outbox({ stream: process.stdin, maxWaitingBytes, framing: () => this.#reader.framing ?? framing });
    this.#inbox = new OrderedInbox({ stream: process.stdout, deliver: (message) => this.#deliver(message) });
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new CribError('INTERNAL', 'This transport has been started before: make a new one.');
    this.#state = 'open';
    const { stdin, stdout, exited } = this.#process;
    stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    stdout.once('end', () => this.#expectExit('closed its output'));
    stdin.once('error', () => this.#expectExit('closed its input'));
    void exited.then((exit) => this.#lose(processLoss(exit, this.#process.lastWords(wordsInErrors))));
  }

  /** Resolves when the message has been accepted. If it cannot be delivered after all, `onclose` is called. */
  async send(message: JSONRPCMessage): Promise<void> {
    this.post(message);
  }

  post(message: JSONRPCMessage): void {
    if (this.#state !== 'open') throw this.loss?.error ?? new ConnectionError('The session with this server is closed.');
    this.#outbox.post(message);
  }

  async close(): Promise<void> {
    // A cancellation sent just before must still reach the server.
    if (this.#state === 'open') this.#outbox.flush();
    this.#finish();
    await this.#process.stop();
  }

  #read(chunk: Buffer): void {
    this.heard = true;
    if (this.#state !== 'open' || this.#broken) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#broken = true;
      const reason =
        error instanceof CribError ? error : new ProtocolError('The messages of the server could not be read.', { cause: error });
      this.#lose({ cause: 'unreadable', error: reason });
    }
  }

  #receive(message: JSONRPCMessage, json?: string): void {
    if (this.#state !== 'open') return;
    try {
      if (this.tap?.take(message, undefined, json) !== true) this.#inbox.put(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #deliver(message: JSONRPCMessage): void {
    if (this.#state !== 'open') return;
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  /** [ERR-9] Noise does not stop the messages after it; where it was meant as an answer, its caller fails at once. */
  #ignore({ reason, text, answers }: Noise): void {
    this.#process.log.append('event', `Skipped on standard output: ${reason}: ${text}`);
    if (answers !== null) this.#receive(invalidAnswer(answers, reason));
  }

  #expectExit(what: string): void {
    const timer = setTimeout(
      () => this.#lose({ cause: 'connection-ended', error: new ProtocolError(`The server ${what}, so it cannot be used any more.`) }),
      this.#process.exitKnownWithinMs ?? waitForExitMs,
    );
    void this.#process.exited.then(() => clearTimeout(timer));
  }

  #lose(loss: SessionLoss): void {
    if (this.#state !== 'open') return;
    // Messages that arrived before are still delivered, in order.
    this.#inbox.whenEmpty(() => {
      if (this.#state !== 'open') return;
      this.loss = loss;
      void this.#process.stop();
      this.#finish();
    });
  }

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#inbox.discard();
    this.onclose?.();
  }
}

interface OutboxOptions {
  stream: Writable;
  /** Called as late as possible, because the server may have shown its own by then. */
  framing: () => Framing;
  maxWaitingBytes?: number;
}

const defaultMaxWaitingBytes = 16 * 1024 * 1024;

/** Collects the messages of one turn of the event loop and writes them together: one system call for many calls. */
class Outbox {
  readonly #stream: Writable;
  readonly #framing: () => Framing;
  readonly #maxWaitingBytes: number;
  #collected: string[] = [];
  #collectedLength = 0;

  constructor({ stream, framing, maxWaitingBytes = defaultMaxWaitingBytes }: OutboxOptions) {
    this.#stream = stream;
    this.#framing = framing;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  post(message: JSONRPCMessage): void {
    if (!this.#stream.writable) throw new ConnectionError('The server accepts no more input.');
    const waiting = this.#collectedLength + this.#stream.writableLength;
    if (waiting > this.#maxWaitingBytes) {
      throw new CribError(
        'SERVICE_UNAVAILABLE',
        `The server does not read its input: ${waiting} bytes are waiting for it. Restart it if it does not recover.`,
      );
    }
    const json = JSON.stringify(message);
    if (this.#collected.length === 0) setImmediate(() => this.flush());
    this.#collected.push(json);
    this.#collectedLength += json.length;
  }

  flush(): void {
    if (this.#collected.length === 0) return;
    const framing = this.#framing();
    const text = this.#collected.map((json) => frame(json, framing)).join('');
    this.#collected = [];
    this.#collectedLength = 0;
    if (this.#stream.writable) this.#stream.write(text);
  }
}

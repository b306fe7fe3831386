import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { CribError } from '../../../model/crib-error.ts';
import { ConnectionError, ProtocolError } from '../../../model/named-errors.ts';
import { crashError, wordsInErrors } from '../process/process-exit.ts';
import type { ServerProcess } from '../process/server-process.ts';
import type { McpTransport, Tap } from '../session/mcp-transport.ts';
import { type Framing, MessageReader, type Noise } from './framing.ts';
import { invalidAnswer } from './json-rpc.ts';
import { OrderedInbox } from './ordered-inbox.ts';
import { Outbox } from './outbox.ts';

export interface StdioTransportOptions {
  process: ServerProcess;
  maxMessageBytes?: number;
  /** How much may wait for a server that does not read its input. */
  maxWaitingBytes?: number;
  /** In which framing we begin. As soon as the server has said anything, it is the server's. */
  framing?: Framing;
}

/** When one of the pipes breaks, the process usually dies too, and how it died says more. */
const waitForExitMs = 1000;

export interface StdioTransport extends McpTransport {
  /** Whether the server has written anything at all, noise included. */
  readonly heard: boolean;
}

/** [MCP-2] [MCP-3] One conversation with a server through its standard input and output. */
export function createStdioTransport(options: StdioTransportOptions): StdioTransport {
  return new ProcessTransport(options);
}

class ProcessTransport implements StdioTransport {
  onmessage?: Transport['onmessage'];
  onerror?: Transport['onerror'];
  onclose?: Transport['onclose'];
  tap: Tap | undefined;
  /** The SDK takes a transport for stdio when it has this and a pid; what is said there goes into the log. */
  readonly stderr = null;
  readonly pid: number;
  heard = false;
  readonly #process: ServerProcess;
  readonly #reader: MessageReader;
  readonly #outbox: Outbox;
  readonly #inbox: OrderedInbox;
  #lost: CribError | undefined;
  /** Where a message could not be read to its end, nobody knows where the next begins. */
  #broken = false;
  #state: 'new' | 'open' | 'closed' = 'new';

  constructor({ process, maxMessageBytes, maxWaitingBytes, framing = 'lines' }: StdioTransportOptions) {
    this.#process = process;
    this.pid = process.pid;
    this.#reader = new MessageReader({
      maxMessageBytes,
      onMessage: (message) => this.#receive(message),
      onNoise: (noise) => this.#ignore(noise),
    });
    this.#outbox = new Outbox({ stream: process.stdin, maxWaitingBytes, framing: () => this.#reader.framing ?? framing });
    this.#inbox = new OrderedInbox({ stream: process.stdout, deliver: (message) => this.#deliver(message) });
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new CribError('INTERNAL', 'This transport has been started before; make a new one.');
    this.#state = 'open';
    const { stdin, stdout, exited } = this.#process;
    stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    stdout.once('end', () => this.#expectExit('closed its output'));
    stdin.once('error', () => this.#expectExit('closed its input'));
    void exited.then((exit) => this.#lose(crashError(exit, this.#process.lastWords(wordsInErrors))));
  }

  /** Resolves when the message has been taken. That it could not be delivered after all is told by `onclose`. */
  async send(message: JSONRPCMessage): Promise<void> {
    this.post(message);
  }

  post(message: JSONRPCMessage): void {
    if (this.#state !== 'open') throw this.#lost ?? new ConnectionError('The session with this server is closed.');
    this.#outbox.post(message);
  }

  lossReason(): CribError | undefined {
    return this.#lost;
  }

  async close(): Promise<void> {
    // A cancellation that was sent just before still reaches the server.
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
      this.#lose(error instanceof CribError ? error : new ProtocolError('The messages of the server could not be read.', { cause: error }));
    }
  }

  #receive(message: JSONRPCMessage): void {
    if (this.#state !== 'open') return;
    try {
      if (this.tap?.(message) !== true) this.#inbox.put(message);
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

  /** [ERR-9] It stalls nothing behind it; where it was meant as an answer, the one who waits for it is told. */
  #ignore({ reason, text, answers }: Noise): void {
    this.#process.log.append('event', `Skipped on standard output: ${reason}: ${text}`);
    if (answers !== null) this.#receive(invalidAnswer(answers, reason));
  }

  #expectExit(what: string): void {
    const timer = setTimeout(
      () => this.#lose(new ProtocolError(`The server ${what}, so it cannot be spoken with any more.`)),
      this.#process.exitKnownWithinMs ?? waitForExitMs,
    );
    void this.#process.exited.then(() => clearTimeout(timer));
  }

  #lose(reason: CribError): void {
    if (this.#state !== 'open') return;
    // What had arrived before is still told, in its order.
    this.#inbox.whenEmpty(() => {
      if (this.#state !== 'open') return;
      this.#lost = reason;
      void this.#process.stop();
      this.onerror?.(reason);
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

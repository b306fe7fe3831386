import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Server } from 'node:http';
import { Worker } from 'node:worker_threads';
import { CribError } from '../../model/crib-error.ts';
import type { Handle } from '../plain-calls.ts';
import { DoorChannel, type DoorChannelInput } from './door-channel.ts';
import type { DoorData, FromDoor, ToDoor } from './door-message.ts';
import { receivePassedOn } from './receive-passed-on.ts';

export interface DoorsInput extends DoorChannelInput, Pick<DoorData, 'port' | 'guard' | 'hasPlainCalls' | 'bodyLimitBytes'> {
  threads: number;
  host: string;
}

export interface Doors {
  /** The listener behind the threads. */
  server(handle: Handle): Server;
  /** Lets `listenBehind` listen for what the threads pass on, and then the threads for callers. */
  open(listenBehind: (path: string) => Promise<unknown>): Promise<void>;
  /** Resolves if a thread ends that should not. */
  readonly broken: Promise<Error>;
  /** Takes no more connections. Resolves when the last answers have been sent. */
  close(): Promise<void>;
  /** Waits for nobody any longer. */
  cut(): void;
  /** Leaves nothing behind. */
  end(): Promise<void>;
}

// The source runs as TypeScript, the package as JavaScript; in both, the worker's file is beside this one.
const workerFile = new URL(`./door-worker${extname(import.meta.url)}`, import.meta.url);
/** unix(7): 108 bytes on Linux, 104 elsewhere, with a zero at the end. */
const longestPath = 103;
/** How long a thread may take to end after it was told to wait for nobody. */
const lastMs = 1000;

/** Threads that listen for callers, each on the same port. They speak HTTP; everything else is done on the main thread. */
export function createDoors(input: DoorsInput): Doors {
  const doors: Door[] = [];
  const broken = Promise.withResolvers<Error>();
  const channels = Array.from({ length: input.threads }, (_, thread) => new DoorChannel(input, (answers) => doors[thread]?.post(answers)));
  let folder: string | undefined;

  return {
    server: (handle) => receivePassedOn(channels, handle),
    broken: broken.promise,
    async open(listenBehind) {
      if (process.platform === 'win32') throw notShared();
      const addresses = await freeAddresses(input.host, input.port);
      // Only its owner may enter it, so that nobody else can speak for a thread.
      folder = await mkdtemp(join(tmpdir(), 'toolcrib-threads-'));
      const socketPath = join(folder, 'main.sock');
      if (Buffer.byteLength(socketPath) > longestPath) throw tooLong(socketPath);
      await listenBehind(socketPath);
      const { port, guard, hasPlainCalls, bodyLimitBytes } = input;
      for (const [thread, channel] of channels.entries()) {
        const data: DoorData = { thread, addresses, port, socketPath, hasPlainCalls, guard, bodyLimitBytes };
        doors.push(new Door(data, channel, broken.resolve));
      }
      await Promise.all(doors.map(({ listening }) => listening));
    },
    async close() {
      for (const door of doors) door.close();
      await Promise.all(doors.map(({ ended }) => ended));
    },
    cut() {
      for (const door of doors) door.post('cut');
      setTimeout(() => void Promise.all(doors.map((door) => door.terminate())), lastMs).unref();
    },
    async end() {
      await Promise.all(doors.map((door) => door.terminate()));
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One thread, as the main thread sees it. */
class Door {
  readonly listening: Promise<void>;
  readonly ended: Promise<unknown>;
  readonly #worker: Worker;
  #isClosing = false;

  constructor(data: DoorData, channel: DoorChannel, onBroken: (error: Error) => void) {
    // It needs no environment variables, and they hold secrets.
    const worker = new Worker(workerFile, {
      name: `door-${data.thread + 1}`,
      workerData: data,
      env: {},
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
    const listening = Promise.withResolvers<void>();
    let fault: unknown;
    worker.on('message', (message: FromDoor) => {
      if (message === 'listening') listening.resolve();
      else if ('failed' in message) listening.reject(listenError(message.failed));
      else channel.hear(message);
    });
    worker.on('error', (error) => (fault = error));
    this.#worker = worker;
    this.listening = listening.promise;
    this.ended = once(worker, 'exit').then(() => {
      channel.leaveAll();
      const error = new Error(`A thread that listens has ended: ${fault instanceof Error ? fault.message : 'nobody knows why'}`, {
        cause: fault,
      });
      listening.reject(error);
      if (!this.#isClosing) onBroken(error);
    });
  }

  post(message: ToDoor): void {
    this.#worker.postMessage(message, []);
  }

  close(): void {
    this.#isClosing = true;
    this.post('close');
  }

  async terminate(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.terminate();
  }
}

/**
 * The addresses to listen on. Threads may share a port with everybody of the same account, so that another server there has to be found first.
 * `localhost` is every address that it stands for, like without threads.
 */
async function freeAddresses(host: string, port: number): Promise<string[]> {
  const [first = host, ...more] = host === 'localhost' ? (await lookup(host, { all: true })).map(({ address }) => address) : [host];
  await tryListening(first, port);
  const free = await Promise.allSettled(
    [...new Set(more)].filter((address) => address !== first).map((address) => tryListening(address, port)),
  );
  return [first, ...free.flatMap((tried) => (tried.status === 'fulfilled' ? tried.value : []))];
}

async function tryListening(host: string, port: number): Promise<string> {
  const server = createServer().listen({ host, port });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
  return host;
}

function listenError({ message, code }: { message: string; code?: string | undefined }): Error {
  return code === 'ENOTSUP' ? notShared() : Object.assign(new Error(message), { code });
}

function tooLong(path: string): CribError {
  return new CribError('VALIDATION_ERROR', `The path of the socket between threads is too long: set TMPDIR to a shorter folder. ${path}`);
}

function notShared(): CribError {
  return new CribError('VALIDATION_ERROR', 'On this system threads cannot share a port, as they can on Linux: leave out --threads');
}

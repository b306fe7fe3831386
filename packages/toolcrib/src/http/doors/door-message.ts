import type { HostGuardConfig } from '../browser-guard.ts';

/** What a thread has to know. */
export interface DoorData {
  /** Its place among the threads. */
  thread: number;
  addresses: readonly string[];
  port: number;
  /** Where the main thread takes what is passed on. */
  socketPath: string;
  /** Whether plain calls are taken out of the stream of requests. */
  hasPlainCalls: boolean;
  guard: HostGuardConfig;
  bodyLimitBytes: number;
}

/**
 * Everything that a thread has collected in one turn of its event loop: for each call its number, its `Authorization` and its body. Zero in
 * place of the last two means that the caller of this number is gone. There is no object for each call: copying them costs more than text.
 */
export type Calls = (number | string)[];

/** For each call its number and its answer, or how the request is to be passed on. */
export type Answers = (number | string)[];

/** The framework is to handle the request as if nothing had happened. */
export const usualWay = 0;
/** The framework is to answer with the failure that is kept under the number of the call. */
export const failedBefore = 1;

/** `close` stops listening and waits for what is under way, `cut` waits no longer. The thread ends after that. */
export type ToDoor = Answers | 'close' | 'cut';

export type FromDoor = Calls | 'listening' | { failed: { message: string; code?: string | undefined } };

/**
 * What the thread says about a request that it passes on: `<thread>.<number of the failed call, or 0> <address of the caller>`. The thread
 * drops what a client sends under this name, and nobody else reaches the socket.
 */
export const doorHeader = 'toolcrib-door';

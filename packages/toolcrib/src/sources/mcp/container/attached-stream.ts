import { Readable, type Duplex, type Writable } from 'node:stream';
import { FrameReader } from '../../../net/docker/frame-reader.ts';

/** The input and output of an exec'd program, which share one connection. */
export interface AttachedExec {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the output has ended; with the reason where the connection broke or carried nonsense. */
  readonly ended: Promise<Error | undefined>;
  /** Closes the connection. The program at its other end goes on. */
  destroy(): void;
}

/** `onError` gets the bytes of standard error, as they come. */
export function attachedExec(connection: Duplex, onError: (piece: Buffer) => void): AttachedExec {
  let failure: Error | undefined;
  /** Output that nobody reads holds up the connection, so that the program waits instead of filling our memory. */
  let full = false;
  /** At most one piece of standard error per turn of the event loop: nobody waits for it, and others need their turns. */
  let resting = false;
  const flow = () => (full || resting ? connection.pause() : connection.resume());
  const stdout = new Readable({
    read() {
      full = false;
      flow();
    },
  });
  const reader = new FrameReader((stream, piece) => {
    if (stream === 'stdout') {
      if (!stdout.push(piece)) full = true;
      return;
    }
    onError(piece);
    resting = true;
  });
  connection.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk);
    } catch (error) {
      failure ??= error as Error;
      connection.destroy();
      return;
    }
    if (resting) setImmediate(rested);
    if (full || resting) flow();
  });
  function rested(): void {
    resting = false;
    flow();
  }
  const ended = new Promise<Error | undefined>((resolve) => {
    const finish = () => {
      if (!stdout.readableEnded && !stdout.destroyed) stdout.push(null);
      resolve(failure);
    };
    connection.once('error', (error) => (failure ??= error));
    connection.once('end', finish);
    connection.once('close', finish);
  });
  return { stdin: connection, stdout, ended, destroy: () => connection.destroy() };
}

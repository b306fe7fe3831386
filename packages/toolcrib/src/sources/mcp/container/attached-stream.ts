import { Readable, type Duplex, type Writable } from 'node:stream';
import { FrameReader } from '../../../net/docker/frame-reader.ts';

/** The two ends of an exec'd program, out of the one connection that carries both. */
export interface AttachedExec {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** When nothing more will come; with the reason where the connection broke or carried nonsense. */
  readonly ended: Promise<Error | undefined>;
  /** Lets go of the connection. What runs at its other end goes on. */
  destroy(): void;
}

/** `onError` gets what is written to standard error, as it comes. */
export function attachedExec(connection: Duplex, onError: (piece: Buffer) => void): AttachedExec {
  let failure: Error | undefined;
  /** Output that nobody reads holds the connection up, so that the program waits and not our memory fills. */
  let full = false;
  /** One piece per turn of the event loop where there is much on standard error: nobody waits for it, and others want their turns. */
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

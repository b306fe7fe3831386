import { extname } from 'node:path';
import { deserialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { createFrameReader, frameOf } from './frames.ts';

export interface Gateway {
  /** JSON as text: a large value is not serialised twice. */
  send(json: string): void;
  /** Stops listening, so that the process ends when its work is done. */
  close(): void;
}

/** The other end of `startIsolated`, inside the process that it starts. */
export function connectToGateway(onMessage: (message: unknown) => void): Gateway {
  const [, , gateway, memoryMb] = process.argv;
  const workerData = { gateway: Number(gateway), mostBytes: Number(memoryMb) * 1024 * 1024 };
  const watchdog = new Worker(new URL(`./watchdog${extname(import.meta.url)}`, import.meta.url), { workerData });
  watchdog.unref();

  const { stdin, stdout } = process;
  stdin.on(
    'data',
    createFrameReader(Number.POSITIVE_INFINITY, (message) => onMessage(deserialize(message))),
  );
  // The gateway is gone, so nobody wants the rest.
  stdin.on('end', () => process.exit(1));
  return {
    send(json) {
      for (const part of frameOf(Buffer.from(json))) stdout.write(part);
    },
    close() {
      stdin.destroy();
    },
  };
}

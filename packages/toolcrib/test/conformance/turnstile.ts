import { once } from 'node:events';
import { createServer, createConnection, type AddressInfo, type Socket } from 'node:net';

/** Says where the turnstile of the run is, to the drivers that the suite starts. */
const addressVariable = 'TOOLCRIB_CONFORMANCE_TURNSTILE';
/** It measures how long we wait before we come back, so nothing else may run beside it. */
const timed = new Set(['sse-retry']);

export interface Turnstile extends AsyncDisposable {
  readonly environment: Record<string, string>;
}

/**
 * The suite starts a driver for every scenario at once, which no machine bears. Here they wait until it is their turn: a few at a time, and
 * one that measures time alone. A turn ends with the connection, so also when its driver was killed.
 */
export async function openTurnstile({ width }: { width: number }): Promise<Turnstile> {
  const waiting: { socket: Socket; needs: number }[] = [];
  let taken = 0;

  function admitNext(): void {
    for (let next = waiting[0]; next !== undefined && taken + next.needs <= width; next = waiting[0]) {
      const { socket, needs } = next;
      waiting.shift();
      if (socket.destroyed) continue;
      taken += needs;
      socket.once('close', () => {
        taken -= needs;
        admitNext();
      });
      socket.write('go\n');
    }
  }

  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (name) => {
      waiting.push({ socket, needs: timed.has(String(name)) ? width : 1 });
      admitNext();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    environment: { [addressVariable]: String((server.address() as AddressInfo).port) },
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

/** Waits for the driver's turn; there is nothing to wait for where somebody starts a driver by hand. */
export async function takeTurn(scenario: string): Promise<Disposable> {
  const port = process.env[addressVariable];
  if (port === undefined) return { [Symbol.dispose]: () => undefined };
  const socket = createConnection(Number(port), '127.0.0.1');
  socket.write(scenario);
  await once(socket, 'data');
  return { [Symbol.dispose]: () => void socket.destroy() };
}

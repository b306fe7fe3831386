import type { Server } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { http } from '../../net/node-http.ts';
import { createHostGuard } from '../browser-guard.ts';
import { createPlainHead } from '../plain-head.ts';
import { answerUnreadable, serverOptions } from '../server-options.ts';
import { DoorCalls } from './door-calls.ts';
import type { DoorData, FromDoor, ToDoor } from './door-message.ts';
import { createPassOn } from './pass-on.ts';

const sweepEveryMs = 50;

/** The program of a thread: speaks HTTP with callers, and knows nothing else. Whatever it fails with ends the thread, which the main thread notices. */
function open(data: DoorData): void {
  const passOn = createPassOn(data);
  const calls = new DoorCalls(passOn, post);
  const isPlain = createPlainHead({ ...data, guard: createHostGuard(data.guard) });
  const servers = data.addresses.map(() =>
    http
      .createServer(serverOptions, (request, response) => {
        if (data.hasPlainCalls && isPlain(request)) calls.take(request, response);
        else passOn(request, response);
      })
      .on('clientError', answerUnreadable),
  );

  parentPort?.on('message', (message: ToDoor) => {
    if (message === 'close') void close(servers);
    else if (message === 'cut') for (const server of servers) server.closeAllConnections();
    else calls.hear(message);
  });
  Promise.all(servers.map((server, index) => listen(server, data.addresses[index] ?? '', data.port))).then(
    () => post('listening'),
    ({ message, code }: NodeJS.ErrnoException) => post({ failed: { message, code } }),
  );
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen({ host, port, reusePort: true }, resolve);
  });
}

async function close(servers: readonly Server[]): Promise<void> {
  // Connections that fall idle after their last answer would stay open for the next request, which is not coming.
  setInterval(() => {
    for (const server of servers) server.closeIdleConnections();
  }, sweepEveryMs);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  process.exit();
}

function post(message: FromDoor): void {
  parentPort?.postMessage(message, []);
}

open(workerData as DoorData);

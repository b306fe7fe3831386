import type { IncomingMessage, Server } from 'node:http';
import { http } from '../../net/node-http.ts';
import type { Socket } from 'node:net';
import { rememberFailure, type Handle } from '../plain-calls.ts';
import { serverOptions } from '../server-options.ts';
import type { DoorChannel } from './door-channel.ts';
import { doorHeader } from './door-message.ts';

const options = {
  ...serverOptions,
  // The threads watch their callers; the connections between threads stay open.
  requestTimeout: 0,
  keepAliveTimeout: 0,
  // What a thread has let in is not refused for the header that it adds.
  maxHeaderSize: 65_536,
};

/** The main thread's listener, for requests that threads pass on. The framework sees them as if their callers were connected to it. */
export function receivePassedOn(channels: readonly DoorChannel[], handle: Handle): Server {
  const server = http.createServer(options, (request, response) => {
    if (restore(request, channels)) handle(request, response);
    else request.socket.destroy();
  });
  return server.on('connection', letThreadsCloseIt);
}

/** False for a request that cannot be answered: nobody is there any more. */
function restore(request: IncomingMessage, channels: readonly DoorChannel[]): boolean {
  const said = /^(\d+)\.(\d+) (.*)$/.exec(String(request.headers[doorHeader]));
  if (said === null) return false;
  const [, thread, failed, address] = said;
  delete request.headers[doorHeader];
  // One request at a time comes over a connection, each from another caller.
  Object.defineProperty(request.socket, 'remoteAddress', { value: address, configurable: true });
  if (failed === '0') return true;
  const failure = channels[Number(thread)]?.takeFailure(Number(failed));
  if (failure === undefined) return false;
  rememberFailure(request, failure.error);
  return true;
}

/**
 * A thread may still be sending what nobody wants, such as a body that is too large, when the answer is complete. Closing the connection now would
 * take the answer from it.
 */
function letThreadsCloseIt(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
  };
}

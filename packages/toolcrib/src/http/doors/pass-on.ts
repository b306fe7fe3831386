import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { http } from '../../net/node-http.ts';
import { CribError } from '../../model/crib-error.ts';
import { answerUnreadable } from '../server-options.ts';
import { doorHeader, type DoorData } from './door-message.ts';

export type PassOn = (request: IncomingMessage, response: ServerResponse, failed?: number) => void;

/** RFC 9110 §7.6.1: these are about one connection. `Expect` has been answered by then. */
const ofTheConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'expect']);
/** RFC 9110 §9.3: Node's client sends these without a body unless a header says that there is one. */
const withoutBody = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);

/** Passes requests on to the framework on the main thread, and its answers back: both as streams, and each end learns when the other is gone. */
export function createPassOn({ socketPath, thread }: Pick<DoorData, 'socketPath' | 'thread'>): PassOn {
  const agent = new http.Agent({ keepAlive: true, maxFreeSockets: 256 });

  return function passOn(request, response, failed = 0) {
    const { method = 'GET', url = '/', socket } = request;
    const headers = [doorHeader, `${thread}.${failed} ${socket.remoteAddress ?? ''}`, ...headersOf(request)];
    let asked: ClientRequest;
    try {
      asked = http.request({ agent, socketPath, method, path: url, headers });
    } catch (error) {
      // Node's server has let in what its client would not send. Nobody can end the thread, and the server with it, by such a request.
      return answerUnreadable(error as Error, socket);
    }
    let isAnswered = false;
    asked.on('response', (answer) => {
      isAnswered = true;
      giveBack(answer, response);
      if (answer.headers.connection === 'close') stopSending(request, asked, answer);
    });
    asked.on('error', () => {
      if (!isAnswered && !response.destroyed) refuse(response);
    });
    response.on('close', () => {
      if (!response.writableFinished) asked.destroy();
    });
    // Its caller is gone, which `close` says, too.
    request.on('error', () => undefined);
    request.pipe(asked);
  };
}

function headersOf({ rawHeaders, headers, method = 'GET' }: IncomingMessage): string[] {
  const kept = pairs(rawHeaders, (name) => name !== doorHeader && !ofTheConnection.has(name));
  const isMeasured = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  // Node's client would begin a body in chunks, which is something else than no body.
  return isMeasured || withoutBody.has(method) ? kept : [...kept, 'content-length', '0'];
}

function pairs(raw: readonly string[], isKept: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (isKept(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '');
  }
  return kept;
}

function giveBack(answer: IncomingMessage, response: ServerResponse): void {
  // Node frames the answer anew, as the client's version of HTTP needs it.
  const headers = pairs(answer.rawHeaders, (name) => name !== 'transfer-encoding' && !ofTheConnection.has(name));
  if (answer.headers.connection === 'close') headers.push('connection', 'close');
  response.writeHead(answer.statusCode ?? 500, headers);
  // A stream is open before anything is in it.
  if (answer.headers['content-length'] === undefined) response.flushHeaders();
  answer.on('error', () => response.destroy());
  answer.pipe(response);
}

/** The rest of the request is not wanted. */
function stopSending(request: IncomingMessage, asked: ClientRequest, answer: IncomingMessage): void {
  answer.on('end', () => {
    request.unpipe(asked);
    asked.destroy();
  });
}

/** The main thread closes no connection of ours unless it ends. */
function refuse(response: ServerResponse): void {
  const error = new CribError('SERVICE_UNAVAILABLE', 'The server is stopping: try again', { retryAfterMs: 1000 });
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  response.writeHead(error.httpStatus, { ...headers, 'retry-after': '1', connection: 'close' }).end(JSON.stringify(error));
}

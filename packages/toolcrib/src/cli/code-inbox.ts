import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline/promises';
import { connectionPage } from '../http/connection-page.ts';
import { CribError } from '../model/crib-error.ts';
import { canAsk } from './agreed.ts';
import { complain } from './terminal.ts';

export interface CodeInbox extends AsyncDisposable {
  /** Where a browser on this machine can bring the code. */
  readonly port: number;
  /** Resolves when a code was accepted. Rejects on any failure other than a wrong code. */
  taken(take: (code: string) => Promise<void>, signal: AbortSignal): Promise<void>;
}

/** Waits for the code that finishes a connection: a browser on this machine brings it, or somebody types it. */
export async function openCodeInbox(): Promise<CodeInbox> {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  done.catch(() => undefined);
  let take: (code: string) => Promise<void> = async () => {
    throw new CribError('CONFLICT', 'No connection has been started yet. Try again');
  };

  async function tryCode(code: string): Promise<CribError | undefined> {
    try {
      await take(code);
      return undefined;
    } catch (error) {
      return error instanceof CribError ? error : new CribError('INTERNAL', String(error), { cause: error });
    }
  }

  /** A wrong or early code ends nothing: any page in a browser can send one. */
  function settle(refusal: CribError | undefined): void {
    if (refusal === undefined) resolve();
    else if (!canBeMended(refusal)) reject(refusal);
  }

  const server = createServer((request, response) => {
    const code = URL.parse(request.url ?? '', 'http://127.0.0.1')?.searchParams.get('code');
    if (typeof code !== 'string' || request.method !== 'GET') return void response.writeHead(404).end();
    void tryCode(code).then((refusal) => {
      response.once('close', () => settle(refusal));
      answer(response, refusal);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    async taken(takeCode, signal) {
      take = takeCode;
      const stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop);
      const typed = canAsk() ? readCodes(tryCode, settle) : undefined;
      try {
        await done;
      } finally {
        signal.removeEventListener('abort', stop);
        typed?.close();
      }
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Whether there may be a better code later. */
function canBeMended({ code }: CribError): boolean {
  return code === 'VALIDATION_ERROR' || code === 'CONFLICT';
}

function readCodes(tryCode: (code: string) => Promise<CribError | undefined>, settle: (refusal: CribError | undefined) => void) {
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: 'Code: ' });
  lines.on('line', (line) => {
    if (line.trim() === '') return lines.prompt();
    void tryCode(line.trim()).then((refusal) => {
      settle(refusal);
      if (refusal === undefined || !canBeMended(refusal)) return;
      complain(refusal.message);
      lines.prompt();
    });
  });
  // At a terminal that is read line by line, Ctrl-C is a key and not a signal.
  lines.on('SIGINT', () => process.emit('SIGINT'));
  lines.prompt();
  return lines;
}

function answer(response: ServerResponse, refusal: CribError | undefined): void {
  const page = refusal ? connectionPage('Not connected', [refusal.message]) : connectionPage('Connected', ['You may close this page.']);
  response.writeHead(refusal?.httpStatus ?? 200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(page);
}

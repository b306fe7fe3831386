import { request as send, type IncomingHttpHeaders } from 'node:http';
import type { ServeConfig } from '../../src/server/server-config.ts';
import { startEverything } from '../conformance/everything/serve-http.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { grantEverything } from '../fixtures/open-server.ts';
import { startTestServer, type TestServer } from '../running-server.ts';

/** A request of a client, and what the server answered. */
interface Exchange {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The method of JSON-RPC, and its parameters. */
  rpc: string | undefined;
  params: Record<string, unknown>;
  status: number;
  answerHeaders: IncomingHttpHeaders;
  answer: string;
}

interface Recorder extends AsyncDisposable {
  /** What clients are told: the address of the proxy, which is the public one of the server. */
  url: string;
  /** In the order in which they were answered. */
  exchanges: readonly Exchange[];
}

/** A server that clients reach only through a proxy which keeps what both sides said, so that "connected" can be checked. */
async function startRecorder(target: () => string): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  const server = await startHttpServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    const asked: Buffer[] = [];
    const passedOn = send(`${target()}${path}`, { method, headers }, (answer) => {
      const answered: Buffer[] = [];
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      response.flushHeaders();
      answer.on('data', (chunk: Buffer) => answered.push(chunk));
      answer.on('error', () => response.destroy());
      const status = answer.statusCode ?? 0;
      const exchange = { method, path, headers, ...rpcOf(asked), status, answerHeaders: answer.headers, answer: '' };
      exchanges.push(exchange);
      // Before the client can know that the answer is complete.
      answer.on('end', () => (exchange.answer = Buffer.concat(answered).toString()));
      answer.pipe(response);
    });
    passedOn.on('error', () => response.destroy());
    response.on('close', () => passedOn.destroy());
    request.on('data', (chunk: Buffer) => asked.push(chunk));
    request.pipe(passedOn);
  });
  return { url: server.origin, exchanges, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function rpcOf(body: Buffer[]): Pick<Exchange, 'rpc' | 'params'> {
  try {
    const { method, params = {} } = JSON.parse(Buffer.concat(body).toString()) as { method?: string; params?: Exchange['params'] };
    return { rpc: method, params };
  } catch {
    return { rpc: undefined, params: {} };
  }
}

/** A server and the recorder before it. */
export interface RecordedDoor extends Recorder {
  server: TestServer;
}

/** In development unless an issuer is given. */
export async function startRecordedDoor(config: Partial<ServeConfig> = {}): Promise<RecordedDoor> {
  await using opened = new AsyncDisposableStack();
  const recorder: Recorder = opened.use(await startRecorder(() => server.url));
  const server: TestServer = opened.use(
    await startTestServer({ publicUrl: recorder.url, mcpDoor: true, allowedNetworks: ['loopback'], ...config }),
  );
  const closing = opened.move();
  return { ...recorder, server, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

/** The same with the fixture of all features behind it, for everybody, under its own names at one address. */
export async function startDoorWithEverything() {
  await using opened = new AsyncDisposableStack();
  const everything = opened.use(await startEverything({ era: 'both' }));
  const door = opened.use(await startRecordedDoor());
  const admin = await door.server.as('admin');
  await grantEverything(admin);
  await admin.post('/api/sources?wait=60000', { name: 'Everything', mcp_server_url: everything.url });
  const token = String(await door.server.running.mint?.('alice'));
  const closing = opened.move();
  return {
    ...door,
    admin,
    /** Of alice. */
    token,
    /** The names of the tools in the last list that a client was given. */
    listedNames(): string[] {
      const { answer = '' } = door.exchanges.findLast(({ rpc }) => rpc === 'tools/list') ?? {};
      const { result } = JSON.parse(answer) as { result: { tools: { name: string }[] } };
      return result.tools.map(({ name }) => name);
    },
    /** The last sum that anybody had calculated, as it is in the record. */
    async recordedSum(): Promise<unknown> {
      return (await admin.get('/api/calls?limit=1&tool=builtin:calculator')).json.calls[0];
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

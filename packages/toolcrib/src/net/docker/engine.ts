import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import https from 'node:https';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { EngineUnavailableError } from '../../model/named-errors.ts';
import { http } from '../node-http.ts';
import { readEngineAddress, type EngineAddress } from './engine-address.ts';
import { engineFailure, EngineRefusalError } from './engine-failure.ts';

interface EngineRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  /** The part after the version, with its query. */
  path: string;
  body?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/**
 * The part of the Docker Engine's HTTP API that containers and execs need. Throws `EngineUnavailableError` where the engine cannot be reached,
 * and `EngineRefusalError` with the status where it refuses.
 */
export interface DockerEngine {
  request<Answer>(request: EngineRequest, schema: z.ZodType<Answer>): Promise<Answer>;
  /** An answer that comes line by line and may take as long as the signal allows. */
  lines(request: EngineRequest & { signal: AbortSignal }): AsyncIterable<string>;
  /** A request whose connection belongs to the caller afterwards, in both directions. */
  hijack(request: EngineRequest): Promise<Duplex>;
  close(): void;
}

const longestAnswerMs = 60_000;
const mostAnswerBytes = 16 * 1024 * 1024;
const refusalSchema = z.object({ message: z.string() });

export function createDockerEngine(host: string | undefined, environment: Readonly<Record<string, string | undefined>>): DockerEngine {
  /** Looked up on first use: a server without containers must start even with a bad address. */
  let place: Place | undefined;
  /** The API version of this engine, asked once. After a restart it may differ, but no connection survives a restart. */
  let version: Promise<string> | undefined;

  async function send(asked: EngineRequest, headers: Record<string, string>, { keepAlive, whole = true }: Connection): Promise<Reply> {
    const { method, path, body, signal } = asked;
    signal?.throwIfAborted();
    place ??= findPlace(host, environment);
    const { address, client, agent } = place;
    const json = body === undefined ? undefined : JSON.stringify(body);
    const request = client.request({
      ...address.connect,
      agent: keepAlive ? agent : false,
      method,
      path,
      headers: { host: 'docker', ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...asked.headers, ...headers },
    });
    const over = AbortSignal.any([...(whole ? [AbortSignal.timeout(longestAnswerMs)] : []), ...(signal === undefined ? [] : [signal])]);
    const abort = () => request.destroy(over.reason as Error);
    over.addEventListener('abort', abort, { once: true });
    try {
      return await replyTo(request, json, whole);
    } catch (error) {
      signal?.throwIfAborted();
      version = undefined;
      throw engineFailure(error, address.text);
    } finally {
      over.removeEventListener('abort', abort);
    }
  }

  async function askVersion(): Promise<string> {
    const reply = await send({ method: 'GET', path: '/version' }, {}, { keepAlive: true });
    return parseAnswer(reply, apiVersionSchema).ApiVersion;
  }

  async function versioned(request: EngineRequest): Promise<EngineRequest> {
    version ??= askVersion();
    const asked = version;
    // The next caller asks again.
    asked.catch(() => (version === asked ? (version = undefined) : undefined));
    return { ...request, path: `/v${await asked}${request.path}` };
  }

  return {
    async request(request, schema) {
      const reply = await send(await versioned(request), {}, { keepAlive: true });
      if (reply.status >= 300 && reply.status !== 304) throw refusal(reply);
      return parseAnswer(reply, schema);
    },
    async *lines(request) {
      const reply = await send(await versioned(request), {}, { keepAlive: false, whole: false });
      if (reply.stream === undefined) throw refusal(reply);
      const { stream } = reply;
      const abort = () => stream.destroy(request.signal.reason as Error);
      request.signal.addEventListener('abort', abort, { once: true });
      try {
        yield* createInterface({ input: stream, crlfDelay: Infinity });
        request.signal.throwIfAborted();
      } finally {
        request.signal.removeEventListener('abort', abort);
        stream.destroy();
      }
    },
    async hijack(request) {
      const reply = await send(await versioned(request), { connection: 'Upgrade', upgrade: 'tcp' }, { keepAlive: false });
      if (reply.socket === undefined) throw refusal(reply);
      return reply.socket;
    },
    close: () => place?.agent.destroy(),
  };
}

function parseAnswer<Answer>({ text }: Reply, schema: z.ZodType<Answer>): Answer {
  try {
    return schema.parse(text === '' ? undefined : JSON.parse(text));
  } catch (cause) {
    throw new EngineUnavailableError('The answer there is not from a Docker Engine that Toolcrib understands. Check DOCKER_HOST.', {
      cause,
    });
  }
}

interface Place {
  address: EngineAddress;
  client: typeof http | typeof https;
  agent: Agent;
}

function findPlace(host: string | undefined, environment: Readonly<Record<string, string | undefined>>): Place {
  const address = readEngineAddress(host, environment);
  const client = address.secure ? https : http;
  return { address, client, agent: new client.Agent({ keepAlive: true }) };
}

const apiVersionSchema = z.object({ ApiVersion: z.string().regex(/^\d+\.\d+$/) });

interface Connection {
  keepAlive: boolean;
  /** Whether the answer is read completely first; a refusal always is. */
  whole?: boolean;
}

interface Reply {
  status: number;
  text: string;
  /** An answer that is still coming. */
  stream?: IncomingMessage;
  /** Set where the engine has handed over the connection. */
  socket?: Duplex;
}

function replyTo(request: ClientRequest, body: string | undefined, whole: boolean): Promise<Reply> {
  return new Promise((resolve, reject) => {
    // It may fail again after it has been given up.
    request.on('error', reject);
    request.once('response', (response: IncomingMessage) => {
      const { statusCode: status = 0 } = response;
      // The reader hears of a connection that breaks off.
      if (!whole && status < 300) return resolve({ status, text: '', stream: response.on('error', () => undefined) });
      readText(response).then((text) => resolve({ status, text }), reject);
    });
    request.once('upgrade', (response: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      resolve({ status: response.statusCode ?? 0, text: '', socket });
    });
    request.end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > mostAnswerBytes) throw new Error(`the answer is longer than ${mostAnswerBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function refusal({ status, text }: Reply): EngineRefusalError {
  let words = text.trim();
  try {
    words = refusalSchema.parse(JSON.parse(text)).message;
  } catch {
    // Some refusals are plain text.
  }
  return new EngineRefusalError(status, words.slice(0, 2000));
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** One call of `echo` without a gateway: start, handshake, call. Returns the milliseconds until its answer. */
export interface BareCall {
  took: number;
}

interface Wanted {
  command: string[];
  arguments: Record<string, string>;
}

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const clientInfo = { name: 'bench', version: '1.0.0' };
const first = line({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
const second = (args: object) =>
  line({ method: 'notifications/initialized' }) + line({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: args } });

/** By `docker exec`, over the Engine's API with a new connection for each request, as the smallest program would do it. */
export async function callByExec(input: Wanted & { socketPath: string; container: string }): Promise<BareCall> {
  const { socketPath, container, command } = input;
  const attached = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false };
  const began = performance.now();
  const made = await post(socketPath, `/containers/${container}/exec`, { ...attached, Cmd: command });
  const { Id: id } = JSON.parse(made) as { Id: string };
  const connection = await hijack(socketPath, `/exec/${id}/start`, { Detach: false, Tty: false });
  const ended = once(connection, 'close');
  const answered = converse(connection, input.arguments);
  let held = Buffer.alloc(0);
  connection.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 8 && held.length >= 8 + held.readUInt32BE(4)) {
      const end = 8 + held.readUInt32BE(4);
      if (held[0] === 1) answered.push(held.toString('utf8', 8, end));
      held = held.subarray(end);
    }
  });
  await answered.done;
  const took = performance.now() - began;
  connection.end();
  await ended;
  return { took };
}

/** By a local command, such as `docker run`. */
export async function callByCommand({ command: [program = '', ...args], arguments: given }: Wanted): Promise<BareCall> {
  const began = performance.now();
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const answered = converse(child.stdin, given);
  child.stdout.setEncoding('utf8').on('data', (text: string) => answered.push(text));
  await answered.done;
  const took = performance.now() - began;
  child.stdin.end();
  await ended;
  return { took };
}

/** Sends the messages one after the other, each after the answer to the one before. */
function converse(output: Writable, args: object) {
  const done = Promise.withResolvers<void>();
  let held = '';
  output.write(first);
  output.on('close', () => done.reject(new Error('The server has ended without an answer')));
  function push(text: string): void {
    const lines = (held + text).split('\n');
    held = lines.pop() ?? '';
    for (const { id, error, result } of lines.map((line) => JSON.parse(line) as Answer)) {
      if (id === 1) output.write(second(args));
      if (id === 2 && (error !== undefined || result?.isError === true))
        done.reject(new Error(`The call failed: ${JSON.stringify(error)}`));
      else if (id === 2) done.resolve();
    }
  }
  return { push, done: done.promise };
}

interface Answer {
  id?: number;
  error?: unknown;
  result?: { isError?: boolean };
}

function ask(socketPath: string, path: string, headers: Record<string, string>, body: object) {
  const asked = request({ socketPath, path, method: 'POST', headers: { host: 'docker', 'content-type': 'application/json', ...headers } });
  return asked.end(JSON.stringify(body));
}

async function post(socketPath: string, path: string, body: object): Promise<string> {
  const [response] = (await once(ask(socketPath, path, {}, body), 'response')) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 201) throw new Error(`Docker refused: ${answer}`);
  return answer;
}

async function hijack(socketPath: string, path: string, body: object): Promise<Duplex> {
  const asked = ask(socketPath, path, { connection: 'Upgrade', upgrade: 'tcp' }, body);
  const [, connection, head] = (await once(asked, 'upgrade')) as [IncomingMessage, Duplex, Buffer];
  if (head.length > 0) connection.unshift(head);
  return connection;
}

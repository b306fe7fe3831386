import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { EngineUnavailableError } from '../../src/model/named-errors.ts';
import { readEngineAddress } from '../../src/net/docker/engine-address.ts';
import { engineFailure } from '../../src/net/docker/engine-failure.ts';
import { createDockerEngine } from '../../src/net/docker/engine.ts';
import { temporaryDirectory } from '../running-server.ts';

async function folder(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  return directory.path;
}

const nowhere = { DOCKER_CONFIG: '/nonexistent' };

test.each([
  [undefined, 'unix:///var/run/docker.sock', { socketPath: '/var/run/docker.sock' }],
  ['', 'unix:///var/run/docker.sock', { socketPath: '/var/run/docker.sock' }],
  ['unix:///run/user/1000/docker.sock', 'unix:///run/user/1000/docker.sock', { socketPath: '/run/user/1000/docker.sock' }],
  ['tcp://10.0.0.1:2375', 'tcp://10.0.0.1:2375', { host: '10.0.0.1', port: 2375 }],
  ['tcp://docker.example', 'tcp://docker.example', { host: 'docker.example', port: 2375 }],
  ['https://docker.example', 'https://docker.example', { host: 'docker.example', port: 2376 }],
])('DOCKER_HOST=%s is %s', (host, text, connect) => {
  expect(readEngineAddress(host, nowhere)).toMatchObject({ text, connect });
});

test.each(['ssh://me@machine', 'fd://', '/var/run/docker.sock', 'tcp://'])(
  'DOCKER_HOST=%s is refused, with what to write instead',
  (host) => {
    expect(() => readEngineAddress(host, nowhere)).toThrow(/use unix:\/\/\/path/);
  },
);

test('the current context of the docker command is used', async () => {
  const config = await folder();
  const name = 'rootless';
  const meta = join(config, 'contexts', 'meta', createHash('sha256').update(name).digest('hex'));
  mkdirSync(meta, { recursive: true });
  writeFileSync(join(meta, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: 'unix:///run/rootless.sock' } } }));
  writeFileSync(join(config, 'config.json'), JSON.stringify({ currentContext: name }));
  expect(readEngineAddress(undefined, { DOCKER_CONFIG: config }).text).toBe('unix:///run/rootless.sock');
  expect(readEngineAddress('unix:///other.sock', { DOCKER_CONFIG: config }).text).toBe('unix:///other.sock');
  expect(readEngineAddress(undefined, { DOCKER_CONFIG: config, DOCKER_CONTEXT: 'default' }).text).toBe('unix:///var/run/docker.sock');
  expect(() => readEngineAddress(undefined, { DOCKER_CONFIG: config, DOCKER_CONTEXT: 'gone' })).toThrow(/set DOCKER_HOST instead/);
});

test.each([
  ['ENOENT', /^Docker not running\. .*Start Docker/],
  ['ECONNREFUSED', /^Docker not running\. /],
  ['EACCES', /^This account may not use Docker at unix:\/\/x\. .*group docker/],
  ['ECONNRESET', /^Docker at unix:\/\/x does not answer/],
])('[ERR-2] %s has its own message', (code, words) => {
  const failure = engineFailure(Object.assign(new Error('said'), { code }), 'unix://x');
  expect(failure).toBeInstanceOf(EngineUnavailableError);
  expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
  expect(failure.message).toMatch(words);
});

/** Something that listens where an engine should, and is none. */
async function listen(handler: Parameters<typeof createServer>[1]): Promise<{ host: string; server: Server }> {
  const socket = join(await folder(), 'engine.sock');
  const server = createServer(handler as never);
  server.listen(socket);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { host: `unix://${socket}`, server };
}

test('[ERR-2] a socket where nobody listens means that Docker is not running', async () => {
  const engine = createDockerEngine(`unix://${await folder()}/none.sock`, {});
  await expect(engine.request({ method: 'GET', path: '/info' }, z.unknown())).rejects.toThrow(/^Docker not running/);
  await expect(engine.hijack({ method: 'POST', path: '/exec/1/start' })).rejects.toBeInstanceOf(EngineUnavailableError);
});

test('a refusal has the status and message of the engine, whether it is JSON or not', async () => {
  const { host } = await listen((request, response) => {
    if (request.url === '/version') return response.end('{"ApiVersion":"1.41"}');
    response.statusCode = request.url === '/v1.41/json' ? 409 : 500;
    response.end(request.url === '/v1.41/json' ? '{"message":"container is paused"}' : 'plain words');
  });
  const engine = createDockerEngine(host, {});
  await expect(engine.request({ method: 'GET', path: '/json' }, z.unknown())).rejects.toMatchObject({
    upstreamStatus: 409,
    words: 'container is paused',
  });
  await expect(engine.hijack({ method: 'POST', path: '/text' })).rejects.toMatchObject({ upstreamStatus: 500, words: 'plain words' });
  engine.close();
});

test('a request is given up when its signal says so, and an engine that answers nonsense is refused', async () => {
  const { host } = await listen((request, response) => void (request.url === '/version' ? response.end('{"ApiVersion":"1.41"}') : null));
  const engine = createDockerEngine(host, {});
  const given = new AbortController();
  const asked = engine.request({ method: 'GET', path: '/never', signal: given.signal }, z.unknown());
  given.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  engine.close();

  const { host: other } = await listen((_, response) => response.end('hello'));
  await expect(createDockerEngine(other, {}).request({ method: 'GET', path: '/info' }, z.unknown())).rejects.toThrow(
    /not from a Docker Engine/,
  );
});

test('bytes that come with the upgrade of the connection are not lost', async () => {
  const { host, server } = await listen((_, response) => response.end('{"ApiVersion":"1.41"}'));
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst words'));
  const engine = createDockerEngine(host, {});
  const socket = await engine.hijack({ method: 'POST', path: '/exec/1/start', body: {} });
  expect(Buffer.concat((await socket.toArray()) as Buffer[]).toString()).toBe('first words');
  engine.close();
});

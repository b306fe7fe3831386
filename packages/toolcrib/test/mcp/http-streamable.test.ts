import { expect, test } from 'vitest';
import { startHandmadeServer, textResult } from '../fixtures/mcp/handmade-server.ts';
import { failureOf, openHttp, startEverything, textOf } from '../fixtures/mcp/sessions.ts';
import { startHttpServer } from '../fixtures/http-server.ts';

const call = { 'tools/call': ({ result }: { result(value: object): void }) => result(textResult('done')) };

test('[MCP-2] the reference server works over streamable HTTP, with progress to the last', async () => {
  await using free = await startHttpServer(() => undefined);
  await free[Symbol.asyncDispose]();
  await using _server = await startEverything('streamableHttp', free.port);
  await using opened = await openHttp(`${free.origin}/mcp`);
  const { session, era } = opened;
  expect(era).toEqual({ kind: 'legacy' });
  const tools = await session.listTools({ signal: new AbortController().signal, resources: false });
  expect(tools.map(({ definition }) => definition.name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image']));
  expect(await textOf(session, 'get-sum', { a: 2, b: 40 })).toBe('The sum of 2 and 40 is 42.');
  const seen: number[] = [];
  const onProgress = ({ progress }: { progress: number }) => seen.push(progress);
  await textOf(session, 'trigger-long-running-operation', { duration: 0.2, steps: 4 }, { onProgress });
  expect(seen).toEqual([1, 2, 3, 4]);
  const onElicit = async () => ({ action: 'accept', content: { name: 'Ada', check: true } });
  expect(await textOf(session, 'trigger-elicitation-request', {}, { onElicit })).toContain('Ada');
  expect(await textOf(session, 'trigger-elicitation-request')).toContain('decline');
  await session.ping({ signal: new AbortController().signal, timeoutMs: 5000 });
  const texts = await Promise.all(Array.from({ length: 40 }, (_, index) => textOf(session, 'echo', { message: `m${index}` })));
  expect(texts).toEqual(Array.from({ length: 40 }, (_, index) => `Echo: m${index}`));
});

test('[MCP-9] cancelling tells the server and closes the stream', async () => {
  const closed = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  await using server = await startHandmadeServer({
    'tools/call'({ response, stream }) {
      stream();
      response.on('close', closed.resolve);
      arrived.resolve();
    },
  });
  await using opened = await openHttp(server.url);
  const cancel = new AbortController();
  const running = failureOf(textOf(opened.session, 'echo', {}, { signal: cancel.signal }));
  await arrived.promise;
  cancel.abort();
  expect(await running).toMatchObject({ message: 'The call was cancelled' });
  await closed.promise;
  await opened.session.ping({ signal: new AbortController().signal, timeoutMs: 5000 });
  const called = server.requests.find(({ method }) => method === 'tools/call');
  const cancelled = server.requests.find(({ method }) => method === 'notifications/cancelled');
  expect(cancelled?.body?.params).toMatchObject({ requestId: called?.body?.id });
});

test('a stream that the server closes is resumed where it stopped, after the requested time', async () => {
  await using server = await startHandmadeServer({
    'tools/call'({ stream }) {
      const events = stream();
      events.send('', { id: 'e1', retry: 20 });
      events.end();
    },
    GET({ request, response, stream }) {
      if (request.headers['last-event-id'] !== 'e1') return response.writeHead(405).end();
      const id = server.requests.find(({ method }) => method === 'tools/call')?.body?.id;
      const events = stream();
      events.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
      events.send({ jsonrpc: '2.0', id, result: textResult('resumed') }, { id: 'e2' });
      return events.end();
    },
  });
  await using opened = await openHttp(server.url);
  const seen: number[] = [];
  expect(await textOf(opened.session, 'echo', {}, { onProgress: ({ progress }) => seen.push(progress) })).toBe('resumed');
  expect(seen).toEqual([1]);
});

test('a stream that ends without the answer, and cannot be resumed, fails the call', async () => {
  await using server = await startHandmadeServer({ 'tools/call': ({ stream }) => stream().end() });
  await using opened = await openHttp(server.url);
  expect(await failureOf(textOf(opened.session, 'echo'))).toMatchObject({ code: 'NETWORK_ERROR' });
});

test('[MCP-7] messages of the server itself are received, and its stream is reopened when it breaks', async () => {
  let streams = 0;
  await using server = await startHandmadeServer({
    GET({ stream }) {
      const events = stream();
      streams++;
      if (streams === 1) events.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, { id: 'a', retry: 10 });
      if (streams === 1) return events.end();
      return events.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, { id: 'b' });
    },
  });
  await using opened = await openHttp(server.url);
  const second = Promise.withResolvers<void>();
  let changes = 0;
  opened.session.onToolsChanged(() => ++changes >= 1 && streams === 2 && second.resolve());
  await second.promise;
  const reopened = server.requests.filter(({ method }) => method === 'GET')[1];
  expect(reopened?.headers).toMatchObject({ 'last-event-id': 'a', 'mcp-session-id': 'session-1' });
});

test('[MCP-13] each question finds its own caller if calls have separate streams', async () => {
  const answers = new Map<unknown, (result: unknown) => void>();
  await using server = await startHandmadeServer({
    async 'tools/call'({ message, stream }) {
      const events = stream();
      const { who } = (message.params ?? {})['arguments'] as { who: string };
      // Of all ids a server could choose for its question, one that we use for calls.
      const id = `${message.id}`;
      events.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: who, requestedSchema: {} } });
      const result = await new Promise((resolve) => answers.set(id, resolve));
      events.send({ jsonrpc: '2.0', id: message.id, result: textResult(JSON.stringify(result)) });
      events.end();
    },
    answer({ message, response }) {
      answers.get(message.id)?.(message.result);
      response.writeHead(202).end();
    },
  });
  await using opened = await openHttp(server.url);
  const ask = (who: string) =>
    textOf(
      opened.session,
      'ask',
      { who },
      { onElicit: async ({ message }) => ({ action: 'accept', content: { who, message: message ?? null } }) },
    );
  const texts = await Promise.all(['ada', 'bob', 'cyd'].map(ask));
  expect(texts.map((text) => JSON.parse(text))).toEqual(
    ['ada', 'bob', 'cyd'].map((who) => ({ action: 'accept', content: { who, message: who } })),
  );
});

test('defaults of a form replace what the person left out', async () => {
  const replied = Promise.withResolvers<unknown>();
  await using server = await startHandmadeServer({
    async 'tools/call'({ message, stream }) {
      const events = stream();
      const properties = { city: { type: 'string', default: 'Bern' }, name: { type: 'string', default: 'X' } };
      events.send({
        jsonrpc: '2.0',
        id: 7,
        method: 'elicitation/create',
        params: { message: '?', requestedSchema: { type: 'object', properties } },
      });
      events.send({ jsonrpc: '2.0', id: message.id, result: textResult(JSON.stringify(await replied.promise)) });
      events.end();
    },
    answer({ message, response }) {
      replied.resolve(message.result);
      response.writeHead(202).end();
    },
  });
  await using opened = await openHttp(server.url);
  const text = await textOf(opened.session, 'ask', {}, { onElicit: async () => ({ action: 'accept', content: { name: 'Ada' } }) });
  expect(JSON.parse(text)).toEqual({ action: 'accept', content: { city: 'Bern', name: 'Ada' } });
});

test('[MCP-12] headers are requested every time, and cannot replace those of the protocol', async () => {
  await using server = await startHandmadeServer(call);
  let asked = 0;
  const headers = async () => ({ Authorization: `Bearer t${++asked}`, 'Mcp-Session-Id': 'stolen', 'X-Team': 'blue' });
  await using opened = await openHttp(server.url, {}, { headers });
  await textOf(opened.session, 'echo');
  const called = server.requests.find(({ method }) => method === 'tools/call');
  expect(called?.headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-11-25', 'x-team': 'blue' });
  const tokens = server.requests.map((request) => request.headers.authorization);
  expect(new Set(tokens).size).toBe(tokens.length);
});

test('[MCP-12] a refused credential can be renewed in the middle of a call', async () => {
  let token = 'old';
  await using server = await startHandmadeServer({
    'tools/call'({ request, response, result }) {
      if (request.headers.authorization === 'Bearer new') return result(textResult('let in'));
      return response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
    },
  });
  const challenges: unknown[] = [];
  const onChallenge = async (challenge: unknown) => {
    challenges.push(challenge);
    token = 'new';
    return true;
  };
  await using opened = await openHttp(server.url, {}, { headers: () => ({ authorization: `Bearer ${token}` }), onChallenge });
  expect(await textOf(opened.session, 'echo')).toBe('let in');
  expect(challenges).toMatchObject([{ status: 401, wwwAuthenticate: 'Bearer error="invalid_token"' }]);
});

test('[SEC-1] a redirect is followed within the origin and nowhere else', async () => {
  await using other = await startHandmadeServer(call);
  let target = '/moved';
  await using server = await startHandmadeServer({
    'tools/call'({ request, response, result }) {
      if (request.url === '/moved') return result(textResult('moved'));
      return response.writeHead(307, { location: target }).end();
    },
  });
  await using opened = await openHttp(server.url);
  expect(await textOf(opened.session, 'echo')).toBe('moved');
  target = other.url;
  expect(await failureOf(textOf(opened.session, 'echo'))).toMatchObject({ code: 'NETWORK_ERROR', upstreamStatus: 307 });
  expect(other.requests).toEqual([]);
});

test.each(['http://192.0.2.1/mcp', 'ftp://example.org/mcp', 'https://user:secret@example.org/mcp', 'nonsense'])(
  '[SEC-1] the address %s is refused before anything is sent',
  async (url) => {
    expect(await failureOf((async () => openHttp(url))())).toMatchObject({ code: 'VALIDATION_ERROR' });
  },
);

test('closing ends the session at the server', async () => {
  await using server = await startHandmadeServer();
  await using opened = await openHttp(server.url);
  await opened.session.close();
  expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 'session-1' } });
});

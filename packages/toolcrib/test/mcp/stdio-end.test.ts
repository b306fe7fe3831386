import { expect, test } from 'vitest';
import { listen, openTransport, textOf } from '../fixtures/mcp/open-transport.ts';
import { livingInGroups, said } from '../fixtures/mcp/start-fixture.ts';

test('[ERR-5] a crash is reported at once, with how it ended and the last lines, redacted', async () => {
  const session = await openTransport('plain', {}, { logOptions: { redact: (text) => text.replaceAll('s3cret', '***') } });
  void session.call('crash', { code: 9, words: 'Traceback: key s3cret\nValueError: gone' });
  await session.closed;
  expect(session.transport.loss?.error).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
    message: expect.stringMatching(/ended with code 9.*Traceback: key \*\*\*\nValueError: gone$/s),
    details: { exit_code: 9, signal: null, stderr: ['ready', 'Traceback: key ***', 'ValueError: gone'] },
  });
  expect(session.errors).toEqual([]);
  await expect(session.request('ping')).rejects.toBe(session.transport.loss?.error);
  await session.server.stop();
  expect(livingInGroups([session.server.pid])).toEqual([]);
});

test('[ERR-5] the last lines are bounded', async () => {
  const session = await openTransport('plain');
  void session.call('crash', { words: Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(1000)}`).join('\n') });
  await session.closed;
  const { details } = session.transport.loss?.error ?? {};
  const { stderr } = details as { stderr: string[] };
  expect(stderr.join('').length).toBeLessThanOrEqual(4000);
  expect(stderr.at(-1)).toMatch(/^499 x/);
});

test('a killed server is reported with its signal', async () => {
  const session = await openTransport('plain');
  process.kill(session.server.pid, 'SIGKILL');
  await session.closed;
  expect(session.transport.loss?.error).toMatchObject({ details: { exit_code: null, signal: 'SIGKILL' } });
});

test('closing is reported once, without a reason, and leaves nothing', async () => {
  const session = await openTransport('plain');
  let closings = 0;
  listen(session.transport, { onclose: () => closings++ });
  await Promise.all([session.transport.close(), session.transport.close()]);
  await session.transport.close();
  expect(closings).toBe(1);
  expect(session.transport.loss?.error).toBeUndefined();
  expect(session.errors).toEqual([]);
  expect(livingInGroups([session.server.pid])).toEqual([]);
  await expect(session.request('ping')).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
});

test('messages sent just before closing still reach the server', async () => {
  const session = await openTransport('plain');
  void session.call('stderr', { text: 'the last wish' });
  await session.transport.close();
  expect(await said(session.log, 'the last wish')).toBe('the last wish');
});

test.each([
  ['close-stdout', 'closed its output'],
  ['close-stdin', 'closed its input'],
])('a server that lives on but cannot be talked to (%s) is lost and ended', async (mode, words) => {
  const session = await openTransport(mode);
  await session.request('initialize');
  // Whoever closes its input is found out by the next that is sent.
  while (session.transport.loss?.error === undefined) {
    await session.transport.send({ jsonrpc: '2.0', method: 'notifications/x' }).catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(session.transport.loss?.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining(words) });
  await session.server.stop();
  expect(livingInGroups([session.server.pid])).toEqual([]);
});

test('a message longer than allowed ends the session and says so', async () => {
  const session = await openTransport('plain', { maxMessageBytes: 100_000 });
  void session.call('huge', { bytes: 200_000 });
  await session.closed;
  expect(session.transport.loss?.error).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: false,
    message: expect.stringContaining('100000 bytes'),
  });
  await session.server.stop();
  expect(livingInGroups([session.server.pid])).toEqual([]);
});

test('a server that does not read makes sending fail instead of filling memory', async () => {
  const session = await openTransport('deaf', { maxWaitingBytes: 1_000_000 });
  const text = 'x'.repeat(100_000);
  const send = () => session.transport.send({ jsonrpc: '2.0', method: 'notifications/x', params: { text } });
  const refusals: unknown[] = [];
  for (let sent = 0; sent < 30; sent++) await send().catch((error: unknown) => refusals.push(error));
  expect(refusals[0]).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('does not read its input') });
  expect(session.server.stdin.writableLength).toBeLessThan(2_000_000);
  await session.transport.close();
  expect(livingInGroups([session.server.pid])).toEqual([]);
});

test('an answer that came together with the end is still delivered', async () => {
  const session = await openTransport('plain');
  const answer = session.call('progress', { steps: 2 }, { progressToken: 1 });
  void session.call('crash');
  await session.closed;
  expect(textOf(await answer)).toBe('done');
  expect(session.messages).toHaveLength(3);
});

test('a transport cannot be started twice', async () => {
  const session = await openTransport('plain');
  await expect(session.transport.start()).rejects.toMatchObject({ code: 'INTERNAL' });
});

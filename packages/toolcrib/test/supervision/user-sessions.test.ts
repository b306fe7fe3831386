import { afterAll, beforeAll, expect, test } from 'vitest';
import type { McpSession } from '../../src/sources/mcp/mcp-session.ts';
import { createUserSessions } from '../../src/supervision/user-sessions.ts';
import { startModernServer } from '../fixtures/mcp/modern-server.ts';
import { openHttp, textOf } from '../fixtures/mcp/sessions.ts';
import { until } from '../running-server.ts';

let server: Awaited<ReturnType<typeof startModernServer>>;
beforeAll(async () => {
  server = await startModernServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const { signal } = new AbortController();
/** Looks again in the next turn of the event loop, so that timers have theirs. */
const closed = (session: McpSession) => until(() => new Promise<boolean>((resolve) => setImmediate(() => resolve(!session.connected))));

/** Sessions of real users with a real server, and who opened one. */
function openUsers(options: { idleMs?: number; most?: number } = {}) {
  const opened: { owner: string; session: McpSession }[] = [];
  const users = createUserSessions({
    async open(owner) {
      const { session } = await openHttp(server.url);
      opened.push({ owner, session });
      return session;
    },
    ...options,
  });
  return { users, opened, [Symbol.asyncDispose]: () => users.close() };
}

test('[MCP-5] every user has one session, opened once however many calls race for it', async () => {
  await using parts = openUsers();
  const { users, opened } = parts;
  const taken = await Promise.all(['alice', 'bob', 'alice', 'bob', 'alice'].map((owner) => users.take(owner, '1', signal)));
  expect(opened.map(({ owner }) => owner).toSorted()).toEqual(['alice', 'bob']);
  expect(new Set(taken.map(({ session }) => session)).size).toBe(2);
  expect(await textOf(taken[0]!.session, 'echo', { text: 'hi' })).toBe('hi');
});

test('[MCP-5] with another credential it is another session, and the old one is closed', async () => {
  await using parts = openUsers();
  const { users, opened } = parts;
  const first = await users.take('alice', '1', signal);
  const second = await users.take('alice', '2', signal);
  expect(second.session).not.toBe(first.session);
  await closed(first.session);
  await users.end('alice');
  expect(opened.map(({ session }) => session.connected)).toEqual([false, false]);
});

test('[MCP-5] one that is not used is closed', async () => {
  await using parts = openUsers({ idleMs: 1 });
  const { session, giveBack } = await parts.users.take('alice', '1', signal);
  giveBack();
  await closed(session);
});

test('[MCP-5] where there are too many, the one that was used longest ago goes, and never one in use', async () => {
  await using parts = openUsers({ most: 2 });
  const { users } = parts;
  const alice = await users.take('alice', '1', signal);
  const bob = await users.take('bob', '1', signal);
  await expect(users.take('carol', '1', signal)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
  alice.giveBack();
  bob.giveBack();
  (await users.take('alice', '1', signal)).giveBack();
  await users.take('carol', '1', signal);
  await closed(bob.session);
  expect(alice.session.connected).toBe(true);
});

test('[MCP-5] one that could not be opened is tried again by the next call, and a caller who goes away holds up nobody', async () => {
  let attempts = 0;
  const users = createUserSessions({
    async open() {
      if (++attempts === 1) throw new Error('not today');
      return (await openHttp(server.url)).session;
    },
  });
  await expect(users.take('alice', '1', signal)).rejects.toThrow('not today');
  const left = new AbortController();
  const leaving = users.take('alice', '1', left.signal);
  const staying = users.take('alice', '1', signal);
  left.abort(new Error('gone'));
  await expect(leaving).rejects.toThrow('gone');
  expect(await textOf((await staying).session, 'echo', { text: 'hi' })).toBe('hi');
  await users.close();
  await expect(users.take('alice', '1', signal)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { McpSession } from '../../src/sources/mcp/session/mcp-session.ts';
import type { SessionKey } from '../../src/sources/upstream/session-key.ts';
import { UserSessions } from '../../src/sources/mcp/pool/user-sessions.ts';
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

const forEver = Number.POSITIVE_INFINITY;
const sessionKey = (owner: string, more: Partial<SessionKey> = {}): SessionKey => ({
  owner,
  key: owner,
  revision: '1',
  until: forEver,
  ...more,
});

/** Sessions of real users with a real server, and who opened one. */
function openUsers(options: { idleMs?: number; most?: number; mostOfOne?: number } = {}) {
  const opened: { owner: string; session: McpSession }[] = [];
  const users = new UserSessions(options);
  const open = (owner: string) => async () => {
    const { session } = await openHttp(server.url);
    opened.push({ owner, session });
    return session;
  };
  const take = (owner: string, more: Partial<SessionKey> = {}) => users.take(sessionKey(owner, more), open(owner), signal);
  return { users, take, opened, [Symbol.asyncDispose]: () => users.close() };
}

test('[MCP-5] every user has one session, opened once however many calls race for it', async () => {
  await using parts = openUsers();
  const { take, opened } = parts;
  const taken = await Promise.all(['alice', 'bob', 'alice', 'bob', 'alice'].map((owner) => take(owner)));
  expect(opened.map(({ owner }) => owner).toSorted()).toEqual(['alice', 'bob']);
  expect(new Set(taken.map(({ session }) => session)).size).toBe(2);
  expect(await textOf(taken[0]!.session, 'echo', { text: 'hi' })).toBe('hi');
});

test('[MCP-5] another credential makes another session, and the old one is closed', async () => {
  await using parts = openUsers();
  const { users, take, opened } = parts;
  const first = await take('alice');
  const second = await take('alice', { revision: '2' });
  expect(second.session).not.toBe(first.session);
  await closed(first.session);
  await users.end('alice');
  expect(opened.map(({ session }) => session.connected)).toEqual([false, false]);
});

test('[MCP-5] an idle session is closed', async () => {
  await using parts = openUsers({ idleMs: 1 });
  const { session, giveBack } = await parts.take('alice');
  giveBack();
  expect(await closed(session)).toBe(true);
});

test('[MCP-5] the least recently used session goes when there are too many, and never one in use', async () => {
  await using parts = openUsers({ most: 2 });
  const { take } = parts;
  const alice = await take('alice');
  const bob = await take('bob');
  await expect(take('carol')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true });
  alice.giveBack();
  bob.giveBack();
  (await take('alice')).giveBack();
  await take('carol');
  await closed(bob.session);
  expect(alice.session.connected).toBe(true);
});

test('[MCP-5] a session that could not be opened is tried again by the next call, and a caller who leaves holds up nobody', async () => {
  let attempts = 0;
  const users = new UserSessions();
  async function open() {
    if (++attempts === 1) throw new Error('not today');
    return (await openHttp(server.url)).session;
  }
  const alice = sessionKey('alice');
  await expect(users.take(alice, open, signal)).rejects.toThrow('not today');
  const left = new AbortController();
  const leaving = users.take(alice, open, left.signal);
  const staying = users.take(alice, open, signal);
  left.abort(new Error('gone'));
  await expect(leaving).rejects.toThrow('gone');
  expect(await textOf((await staying).session, 'echo', { text: 'hi' })).toBe('hi');
  await users.close();
  await expect(users.take(alice, open, signal)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});

test('[MCP-5] two tokens of one user have separate sessions, which end together', async () => {
  await using parts = openUsers();
  const { users, take, opened } = parts;
  const [first, second] = [await take('alice', { key: 'alice 1' }), await take('alice', { key: 'alice 2' })];
  await take('bob');
  expect(second.session).not.toBe(first.session);
  await users.end('alice');
  expect(opened.map(({ session }) => session.connected)).toEqual([false, false, true]);
});

test('[MCP-5] [ID-5] one user with many tokens takes no room from others', async () => {
  await using parts = openUsers({ most: 4, mostOfOne: 2 });
  const { take } = parts;
  const first = await take('alice', { key: 'alice 1' });
  await take('alice', { key: 'alice 2' });
  await expect(take('alice', { key: 'alice 3' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await take('bob');
  first.giveBack();
  await take('alice', { key: 'alice 3' });
  await closed(first.session);
});

test('[ID-3] a session opened with a token ends with the token, and says so', async () => {
  await using parts = openUsers();
  const { session, over } = await parts.take('alice', { until: Date.now() + 1 });
  await closed(session);
  expect(over?.()).toMatchObject({ code: 'UNAUTHENTICATED', retryable: false });
});

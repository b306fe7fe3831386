import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listedToolSchema } from '../../src/api.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import type { EventReader, SentEvent } from '../fixtures/event-reader.ts';
import { rawConnection } from '../fixtures/raw-connection.ts';
import { adminClaims, startServerWithIssuer, userClaims } from '../running-server.ts';

let parts: Awaited<ReturnType<typeof startServerWithIssuer>>;
let user: ApiClient;
let cook: ApiClient;
let admin: ApiClient;
const cookPolicy = { name: 'Cooks', matchers: [{ path: 'department', operator: 'equals', value: 'kitchen' }], groups: ['kitchen'] };

beforeAll(async () => {
  parts = await startServerWithIssuer();
  user = await parts.signedIn(userClaims);
  cook = await parts.signedIn({ sub: 'cook-1', department: 'kitchen' });
  admin = await parts.signedIn(adminClaims);
  await admin.post('/api/groups', { id: 'kitchen', name: 'Kitchen', include: ['builtin:convert_units', 'builtin:wait'] });
  await admin.post('/api/policies', { id: 'cooks', ...cookPolicy });
});
afterAll(() => parts[Symbol.asyncDispose]());

const names = ({ data }: SentEvent) => data.tools.map((tool: { name: string }) => tool.name);

/** Follows and passes over what every stream begins with. */
async function following(client: ApiClient): Promise<{ stream: EventReader; list: SentEvent }> {
  const stream = await client.follow();
  const list = await stream.nextOf('tool_list');
  await stream.nextOf('source_status');
  return { stream, list };
}

describe('[BFF-4] the stream of a caller', () => {
  test('begins with the caller, the whole list, and the state of its sources', async () => {
    await using stream = await cook.follow();
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.response.headers.get('cache-control')).toBe('no-store');
    expect(await stream.next()).toMatchObject({ event: 'connected', data: { subject: 'cook-1', heartbeat_ms: 30_000 } });
    const list = await stream.next();
    expect(list).toMatchObject({ event: 'tool_list', id: expect.any(String), data: { total: 2, difference: null } });
    expect(list?.data.tools.map((tool: unknown) => listedToolSchema.parse(tool).name)).toEqual(['builtin:convert_units', 'builtin:wait']);
    expect(await stream.next()).toMatchObject({
      event: 'source_status',
      data: { source_name: 'Built-in tools', status: { state: 'running' } },
    });
  });

  test('reports removed, added and changed tools as it happens', async () => {
    const { stream, list } = await following(cook);
    await using _ = stream;
    const setGroup = (include: string[]) => admin.put('/api/groups/kitchen', { name: 'Kitchen', include });

    await setGroup(['builtin:convert_units']);
    const gone = await stream.nextOf('tool_list');
    expect(gone.data).toMatchObject({ total: 1, difference: { added: [], changed: [], removed: ['builtin:wait'] }, tools: [] });
    expect(gone.id).not.toBe(list.id);

    await setGroup(['builtin:convert_units', 'builtin:wait']);
    const back = await stream.nextOf('tool_list');
    expect(back.data.difference).toEqual({ added: ['builtin:wait'], changed: [], removed: [] });
    expect(names(back)).toEqual(['builtin:wait']);
    expect(back.id).toBe(list.id);

    await admin.patch('/api/tools/builtin:wait', { description: 'Lets the dough rest.' });
    const changed = await stream.nextOf('tool_list');
    expect(changed.data.difference).toEqual({ added: [], changed: ['builtin:wait'], removed: [] });
    expect(changed.data.tools).toMatchObject([{ name: 'builtin:wait', description: 'Lets the dough rest.' }]);

    await admin.put('/api/policies/cooks', { ...cookPolicy, enabled: false });
    expect((await stream.nextOf('tool_list')).data).toMatchObject({
      total: 0,
      difference: { removed: ['builtin:convert_units', 'builtin:wait'] },
    });
    await admin.put('/api/policies/cooks', cookPolicy);
    expect((await stream.nextOf('tool_list')).data.total).toBe(2);
  });

  test('stays silent about changes that do not concern its caller', async () => {
    const [ofUser, ofCook] = [await following(user), await following(cook)];
    await using _ = ofUser.stream;
    await using __ = ofCook.stream;
    // Nothing the cook may use, then nothing anybody may use, then something of the cook's own.
    await admin.patch('/api/tools/builtin:hash', { description: 'Makes a checksum.' });
    await admin.post('/api/policies', { id: 'nobody', name: 'Nobody', matchers: [], groups: ['kitchen'] });
    await admin.patch('/api/tools/builtin:convert_units', { description: 'Cups to grams.' });
    const nextOfCook = await ofCook.stream.next();
    expect(nextOfCook).toMatchObject({ event: 'tool_list', data: { difference: { changed: ['builtin:convert_units'] } } });
    const seenByUser = [await ofUser.stream.nextOf('tool_list'), await ofUser.stream.nextOf('tool_list')];
    expect(seenByUser.map(({ data }) => data.difference.changed)).toEqual([['builtin:hash'], ['builtin:convert_units']]);
  });

  test('resumes with Last-Event-ID and sends only what has changed since, as a difference', async () => {
    const { stream, list } = await following(cook);
    await stream[Symbol.asyncDispose]();
    {
      await using again = await cook.follow({ 'last-event-id': list.id ?? '' });
      expect((await again.next())?.event).toBe('connected');
      expect((await again.next())?.event).toBe('source_status');
    }
    await admin.patch('/api/tools/builtin:wait', { hidden: true });
    {
      await using again = await cook.follow({ 'last-event-id': list.id ?? '' });
      const resumed = await again.nextOf('tool_list');
      expect(resumed.data).toMatchObject({ total: 1, difference: { removed: ['builtin:wait'] }, tools: [] });
    }
    await admin.patch('/api/tools/builtin:wait', { hidden: false });
    for (const strange of ['unheard-of', 'x'.repeat(200)]) {
      await using again = await cook.follow({ 'last-event-id': strange });
      expect((await again.nextOf('tool_list')).data).toMatchObject({ total: 2, difference: null });
    }
  });

  test('ends when the token expires', async () => {
    const exp = Math.floor(Date.now() / 1000) + 2;
    await using stream = await (await parts.signedIn({ ...userClaims, exp })).follow();
    const events = await stream.rest();
    expect(events[0]).toMatchObject({ event: 'connected', data: { expires_at: exp * 1000 } });
    expect(events.map(({ event }) => event)).toEqual(['connected', 'tool_list', 'source_status']);
  });
});

test.each(['', '?wire=true'])('[SEC-1] the stream of a log, with %j, ends when the administrator’s token expires', async (query) => {
  const exp = Math.floor(Date.now() / 1000) + 2;
  await using stream = await (await parts.signedIn({ ...adminClaims, exp })).followLog('builtin', query);
  expect(stream.response.status).toBe(200);
  await stream.rest();
});

test('[BFF-4] a reader who does not read is disconnected, and the others miss nothing', async () => {
  const description = 'long '.repeat(4000);
  const listed = await user.listedNames();
  for (const name of listed) await admin.patch(`/api/tools/${name}`, { description });
  const { stream } = await following(user);
  await using _ = stream;

  const stuck = await rawConnection(parts.server.url);
  const lines = ['GET /api/bff/sse HTTP/1.1', 'Host: 127.0.0.1', `Authorization: Bearer ${user.token}`, '', ''];
  stuck.write(lines.join('\r\n'));
  await once(stuck, 'data');
  stuck.pause();

  const { json: policy } = await admin.get('/api/policies/users-use-builtin-tools');
  const { id: _id, created_at: _created, updated_at: _updated, managed_by: _managed, ...input } = policy;
  // More than the kernel and the server together keep for one reader.
  for (let round = 0; round < 80; round++) {
    for (const enabled of [false, true]) {
      await admin.put('/api/policies/users-use-builtin-tools', { ...input, enabled });
      expect((await stream.nextOf('tool_list')).data.total).toBe(enabled ? listed.length : 0);
    }
  }
  const closed = new Promise((resolve) => stuck.on('close', resolve));
  stuck.resume();
  await closed;
  expect((await user.call('builtin:uuid')).status).toBe(200);
});

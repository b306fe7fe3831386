import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { watchedUri } from '../conformance/everything/catalogue.ts';
import { startEverything } from '../conformance/everything/serve-http.ts';
import type { ApiClient } from '../fixtures/api-client.ts';
import { startTestServer, untilSeen, type TestServer } from '../running-server.ts';
import { connectToDoor, type Era } from './connect.ts';

const eras = ['legacy', 'modern'] as const;
const pairs = eras.flatMap((client) => eras.map((source) => ({ client, source })));

let server: TestServer;
let admin: ApiClient;
const everything = {} as Record<Era, Awaited<ReturnType<typeof startEverything>>>;
beforeAll(async () => {
  const atOnce = { refreshPauses: { firstMs: 0, longestMs: 0, quietMs: 0 } };
  server = await startTestServer({ allowedNetworks: ['loopback'], ...atOnce });
  admin = await server.as('admin');
  for (const era of eras) {
    everything[era] = await startEverything({ era });
    await admin.post('/api/sources?wait=60000', { name: `Everything ${era}`, mcp_server_url: everything[era].url });
  }
  await admin.post('/api/groups', { id: 'all', name: 'All', selectors: [{ source: '*' }] });
  const matchers = [{ path: 'preferred_username', operator: 'equals', value: 'alice' }];
  await admin.post('/api/policies', { id: 'alice', name: 'Alice', matchers, groups: ['all'] });
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  for (const era of eras) await everything[era][Symbol.asyncDispose]();
});

async function enter(era: Era, username = 'alice') {
  const token = (await server.running.mint?.(username)) ?? '';
  const connected = await connectToDoor({ url: `${server.url}/mcp`, era, token });
  await connected.connect();
  return connected;
}

const shownAs = (source: Era) => `toolcrib://everything-${source}/${watchedUri}`;

describe.each(pairs)('a client of the $client era with a source of the $source era', ({ client: era, source }) => {
  test('[DOOR-5] hears of a resource that it has subscribed to, under the name that it knows', async () => {
    await using connected = await enter(era);
    const { client } = connected;
    const uri = shownAs(source);
    const heard: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
    if (era === 'legacy') await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    everything[source].catalogue.update();
    await untilSeen(() => heard.length > 0);
    expect(new Set(heard)).toEqual(new Set([uri]));
    if (era === 'legacy') await client.unsubscribeResource({ uri });
  }, 60_000);

  test('[DOOR-5] hears when the prompts of a source have changed', async () => {
    await using connected = await enter(era);
    const { client } = connected;
    const before = (await client.listPrompts()).prompts.length;
    let heard = 0;
    client.setNotificationHandler('notifications/prompts/list_changed', () => void heard++);
    if (era === 'modern') await client.listen({ promptsListChanged: true });
    // In the revisions with sessions the stream is opened by the client when it likes: so it changes until it is heard.
    else await client.ping();
    await untilSeen(() => {
      if (heard === 0) everything[source].catalogue.change('prompts');
      return heard > 0;
    });
    await expect.poll(async () => [before - 1, before, before + 1].includes((await client.listPrompts()).prompts.length)).toBe(true);
  }, 60_000);
});

test('[DOOR-5] subscriptions end with the session, and a source is asked once however many subscribe', async () => {
  const { catalogue } = everything.legacy;
  await untilSeen(() => catalogue.subscribed.length === 0);
  await using first = await enter('legacy');
  await using second = await enter('legacy');
  const uri = shownAs('legacy');
  await first.client.subscribeResource({ uri });
  await second.client.subscribeResource({ uri });
  expect(catalogue.subscribed).toEqual([watchedUri]);
  await first.client.unsubscribeResource({ uri });
  await second.transport.terminateSession();
  await untilSeen(() => catalogue.subscribed.length === 0);
}, 60_000);

test('[DOOR-7] a resource of others cannot be subscribed to, in the words for one that is not there', async () => {
  await using connected = await enter('legacy', 'bob');
  const refusal = async (uri: string) =>
    JSON.stringify(
      await connected.client.subscribeResource({ uri }).catch(({ code, message }: Error & { code: number }) => ({ code, message })),
    );
  expect(await refusal(shownAs('legacy'))).toBe(await refusal('toolcrib://nowhere/test://nothing'));
  await using stateless = await enter('modern', 'bob');
  const { honoredFilter } = await stateless.client.listen({ resourceSubscriptions: [shownAs('legacy')] });
  expect(honoredFilter.resourceSubscriptions ?? []).toEqual([]);
}, 60_000);

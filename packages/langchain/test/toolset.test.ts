import { expect, test } from 'vitest';
import { changingServer } from '../../toolcrib/test/fixtures/changing-server.ts';
import { cuttableProxy } from '../../toolcrib/test/fixtures/cuttable-proxy.ts';
import { startOpenServer, type OpenServer } from '../../toolcrib/test/fixtures/open-server.ts';
import { startServerWithIssuer, untilSeen, userClaims } from '../../toolcrib/test/running-server.ts';
import { createToolcrib } from '../src/toolcrib.ts';
import type { Toolset } from '../src/toolset.ts';
import { callAsModel, toolNamed } from './called-tool.ts';

const asAlice = ({ url, alice }: OpenServer) => createToolcrib({ url, token: alice.token ?? '' });
const has = (toolset: Toolset, name: string) => toolset.tools.some((tool) => tool.name === name);

test('[LC-1] a toolset gains new tools, loses removed ones, and a removed tool says so when called', async () => {
  await using server = await startOpenServer();
  await using changing = await changingServer({ name: 'first' }, { name: 'second' });
  const { json } = await server.admin.post('/api/sources?wait=30000', { name: 'Shop', mcp_command: changing.command });
  await using toolset = await asAlice(server).toolset();
  const { tools } = toolset;
  const first = toolNamed(tools, 'shop_first');
  const seen: boolean[] = [];
  const stop = toolset.onChange((now) => seen.push(now === tools));

  await changing.list([{ name: 'second', description: 'Anew.' }, { name: 'third' }]);
  await server.admin.post(`/api/sources/${json.id}/refresh`, undefined);
  await untilSeen(() => has(toolset, 'shop_third'));
  expect(has(toolset, 'shop_first')).toBe(false);
  expect(toolNamed(tools, 'shop_second').description).toBe('Anew.');
  expect(await callAsModel(first)).toMatchObject({
    status: 'error',
    content: 'The tool shop_first no longer exists, or this user may not use it. Use another tool.',
  });
  expect(new Set(seen)).toEqual(new Set([true]));
  stop();
  const told = seen.length;
  await server.admin.delete('/api/policies/everybody');
  await untilSeen(() => !has(toolset, 'shop_third'));
  expect(seen.length).toBe(told);
});

test('[LC-1] a toolset keeps to its selection', async () => {
  await using server = await startOpenServer();
  await using changing = await changingServer({ name: 'first' });
  const { json } = await server.admin.post('/api/sources?wait=30000', { name: 'Shop', mcp_command: changing.command });
  await using byName = await asAlice(server).toolset({ names: ['shop:second'] });
  await using byGroup = await asAlice(server).toolset({ group: 'everything' });
  expect(byName.tools).toEqual([]);
  await changing.list([{ name: 'second' }, { name: 'third' }]);
  await server.admin.post(`/api/sources/${json.id}/refresh`, undefined);
  await untilSeen(() => has(byGroup, 'shop_third') && byName.tools.length > 0);
  expect(byName.tools.map(({ name }) => name)).toEqual(['shop_second']);
});

test('[LC-1] a toolset that loses its connection says so, keeps its tools, and catches up later', async () => {
  await using server = await startOpenServer();
  await using changing = await changingServer({ name: 'first' });
  const { json } = await server.admin.post('/api/sources?wait=30000', { name: 'Shop', mcp_command: changing.command });
  await using proxy = await cuttableProxy(server.url);
  const errors: unknown[] = [];
  const crib = createToolcrib({ url: proxy.url, token: server.alice.token ?? '' });
  await using toolset = await crib.toolset({ onError: (error) => errors.push(error) });
  proxy.cut();
  await untilSeen(() => errors.length > 0);
  expect(errors[0]).toMatchObject({ code: 'NETWORK_ERROR', retryable: true });
  expect(await callAsModel(toolNamed(toolset.tools, 'shop_first'))).toMatchObject({
    status: 'error',
    content: expect.stringMatching(/could not be reached.* Try again later\.$/),
  });
  await changing.list([{ name: 'second' }]);
  await server.admin.post(`/api/sources/${json.id}/refresh`, undefined);
  proxy.mend();
  await untilSeen(() => has(toolset, 'shop_second'));
  expect(has(toolset, 'shop_first')).toBe(false);
});

test('[LC-1] a toolset continues with a new token when the old one expires', async () => {
  await using own = await startServerWithIssuer();
  const { issuer, server } = own;
  const expiring = () => issuer.sign({ ...userClaims, exp: Math.floor(Date.now() / 1000) + 2 });
  let given = 0;
  const crib = createToolcrib({ url: server.url, token: () => (given++ < 2 ? expiring() : issuer.sign(userClaims)) });
  await using toolset = await crib.toolset();
  const before = toolset.tools.length;
  // The stream ends with its token; the one after it is asked for by itself.
  await untilSeen(() => given > 3);
  expect(toolset.tools.length).toBe(before);
  expect(await toolNamed(toolset.tools, 'builtin_calculator').invoke({ expression: '6 * 7' })).toBe('result: 42');
});

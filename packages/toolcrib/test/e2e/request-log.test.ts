import { expect, test } from 'vitest';
import { devToken, spawnServer, temporaryDirectory, untilSeen } from '../running-server.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

test('[OPS-1] every request is one line at debug level, with its route, and without the content of address, headers and body', async () => {
  await using data = await temporaryDirectory();
  await using server = await spawnServer(['--data', data.path, '--log-level', 'debug']);
  const token = await devToken(server.url, 'alice');
  const alice = server.client(token);
  await alice.get('/api/bff/tools?q=a-private-word', { traceparent, 'x-private': 'a-private-header' });
  await alice.get('/api/bff/calls/a-private-id');
  await alice.call('builtin:calculator', { expression: '6 * 7000000001' });
  const lines = () => server.log.flatMap((line) => (line.includes('"msg":"request"') ? [JSON.parse(line) as Record<string, unknown>] : []));
  const find = (route: string) => lines().find((line) => line.route === route);
  await untilSeen(() => find('/api/bff/tools/call') !== undefined);
  expect(find('/api/bff/tools')).toMatchObject({ method: 'GET', status: 200, trace_id: traceId, ms: expect.any(Number) });
  expect(find('/api/bff/tools')?.request_id).toEqual(expect.any(String));
  expect(find('/api/bff/calls/:id')).toMatchObject({ status: 404 });
  expect(find('/api/bff/tools/call')).not.toHaveProperty('trace_id');
  const all = server.log.join('\n');
  for (const hidden of ['a-private', '7000000001', token]) expect(all).not.toContain(hidden);
});

test('[OPS-1] requests are not logged at the default level', async () => {
  await using data = await temporaryDirectory();
  await using server = await spawnServer(['--data', data.path]);
  await server.client(await devToken(server.url, 'alice')).get('/api/bff/tools');
  expect(server.log.filter((line) => line.includes('"msg":"request"'))).toEqual([]);
});

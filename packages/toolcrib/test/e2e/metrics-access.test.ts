import { expect, test } from 'vitest';
import { metricsToken, startServerWithIssuer, startTestServer, userClaims } from '../running-server.ts';

const read = async (url: string, token?: string) => {
  const response = await fetch(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
  return { status: response.status, text: await response.text() };
};
const metrics = expect.stringContaining('# TYPE toolcrib_calls_total');

test('[OPS-1] with an issuer, nobody reads the metrics without the metrics token', async () => {
  await using crib = await startServerWithIssuer();
  const url = `${crib.server.url}/metrics`;
  for (const token of [undefined, '', 'another token of some length', await crib.issuer.sign(userClaims)]) {
    expect(await read(url, token)).toMatchObject({ status: 401, text: expect.not.stringContaining('toolcrib_calls_total') });
  }
  expect(await read(url, metricsToken)).toEqual({ status: 200, text: metrics });
});

test('[OPS-1] with an issuer and without a metrics token, metrics have their own port or are off', async () => {
  await using crib = await startServerWithIssuer({ metricsToken: undefined, metricsListen: { host: '127.0.0.1', port: 0 } });
  expect(await read(`${crib.server.url}/metrics`)).toMatchObject({ status: 404, text: expect.stringContaining('--metrics-listen') });
  const own = crib.server.running.metricsUrl ?? '';
  expect(await read(own)).toEqual({ status: 200, text: metrics });
  // Nothing else is there.
  for (const path of ['/healthz', '/api/bff/tools', '/']) expect((await read(new URL(path, own).href)).status).toBe(404);
});

test('[OPS-1] the token also guards the separate port', async () => {
  await using server = await startTestServer({ metricsToken, metricsListen: { host: '127.0.0.1', port: 0 } });
  const own = server.running.metricsUrl ?? '';
  expect((await read(own)).status).toBe(401);
  expect(await read(own, metricsToken)).toEqual({ status: 200, text: metrics });
});

test('[OPS-1] metrics are open in development', async () => {
  await using server = await startTestServer();
  expect(await read(`${server.url}/metrics`)).toEqual({ status: 200, text: metrics });
});

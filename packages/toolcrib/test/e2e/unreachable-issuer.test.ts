import { expect, test } from 'vitest';
import { serveBanner } from '../../src/cli/serve-banner.ts';
import { usualConfig } from '../../src/server/server-config.ts';
import { createTokenVerifier } from '../../src/identity/verify-token.ts';
import { fetchDocument } from '../fixtures/loopback-egress.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { administering, spawnServer, startTestServer, temporaryDirectory, until, untilSeen } from '../running-server.ts';

test('[ID-1] [BFF-7] an unreachable issuer is reported at the start, in the log and in /readyz, which asks nobody itself', async () => {
  await using good = await startTokenIssuer();
  await using bad = await startTokenIssuer();
  bad.answers.jwks = (_request, response) => response.writeHead(500).end();
  await using data = await temporaryDirectory();
  const issuers = [{ ...good.config, ...administering }, bad.config];
  await using server = await spawnServer(['--data', data.path], { TOOLCRIB_ISSUERS: JSON.stringify(issuers) });
  // Without anybody having come.
  const warning = () => server.log.find((line) => line.includes("an issuer's keys could not be fetched"));
  await untilSeen(() => warning() !== undefined);
  expect(JSON.parse(warning() ?? '{}')).toMatchObject({ level: 40, issuer: bad.issuer });

  const ready = async () => (await server.client().get('/readyz')).json;
  await until(async () => (await ready()).warnings !== undefined);
  const { jwks } = bad.fetches;
  for (let round = 0; round < 5; round += 1)
    expect(await ready()).toEqual({ status: 'ready', warnings: [`The keys of the issuer ${bad.issuer} cannot be fetched`] });
  expect(bad.fetches.jwks).toBe(jwks);
  // The others are served.
  expect((await server.client(await good.sign()).get('/api/me')).status).toBe(200);
});

test('[ID-1] [CLI-1] a person who starts the server sees the warning, with what to check', async () => {
  await using issuer = await startTokenIssuer();
  await issuer.stop();
  await using server = await startTestServer({ issuers: [issuer.config] });
  expect(await server.running.unreachableIssuers(60_000)).toEqual([issuer.issuer]);
  const banner = await serveBanner({ ...usualConfig, dataDir: server.dataDir, issuers: [issuer.config] }, server.running);
  expect(banner).toContain(`The keys of ${issuer.issuer} cannot be fetched`);
  expect(banner).toMatch(/Check the address.*`toolcrib doctor`/);
});

test('[ID-1] the server notices without a caller when an issuer goes away, and when it is back', async () => {
  await using idp = await startTokenIssuer();
  let time = Date.now();
  const verifier = createTokenVerifier({ fetchDocument, issuers: [idp.config], now: () => time });
  await verifier.renewKeys();
  expect([verifier.unreachable(), idp.fetches.jwks]).toEqual([[], 1]);
  await idp.stop();
  time += 59_999;
  await verifier.renewKeys();
  expect(verifier.unreachable()).toEqual([]);
  time += 1;
  await verifier.renewKeys();
  expect(verifier.unreachable()).toEqual([idp.issuer]);
  await idp.restart();
  time += 60_000;
  await verifier.renewKeys();
  expect(verifier.unreachable()).toEqual([]);
});

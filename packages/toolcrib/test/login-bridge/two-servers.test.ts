import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { freshPostgresDatabase, part, type FreshDatabase } from '../parts.ts';
import { startTestServer, until, type TestServer } from '../running-server.ts';
import { enterDoor } from './enter-door.ts';
import { Person } from './person.ts';
import { callback, codeIn, PublicClient, type Tokens } from './public-client.ts';
import { scriptProvider } from './scripted-provider.ts';

const postgres = part('postgres');

describe.skipIf(!postgres.available)('two servers on one database', () => {
  let database: FreshDatabase;
  let issuer: Awaited<ReturnType<typeof startTokenIssuer>>;
  let provider: ReturnType<typeof scriptProvider>;
  let one: TestServer;
  let other: TestServer;
  /** Where browsers and clients reach both; it leads to the first. */
  let publicUrl: string;

  beforeAll(async () => {
    database = await freshPostgresDatabase();
    issuer = await startTokenIssuer();
    provider = scriptProvider(issuer);
    const port = await freePort('127.0.0.1');
    publicUrl = `http://127.0.0.1:${port}`;
    const config = {
      databaseUrl: database.url,
      publicUrl,
      issuers: [issuer.config],
      allowedNetworks: ['loopback'],
      mcpDoor: true,
      loginBridge: { client_id: 'toolcrib-login', issuer: issuer.issuer, recheck_seconds: 2 },
    };
    one = await startTestServer({ ...config, port });
    other = await startTestServer(config);
  }, 120_000);
  afterAll(async () => {
    await one?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    await issuer?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  async function logIn(): Promise<{ client: PublicClient; tokens: Tokens }> {
    const client = await PublicClient.register(publicUrl);
    const person = new Person(callback, `${issuer.issuer}/authorize`);
    const page = await person.open(client.loginUrl());
    const back = await person.open(provider.answer(await person.submit(page, { answer: 'allow' })));
    return { client, tokens: (await client.redeem(codeIn(back))).json };
  }
  const enter = (server: TestServer, token: string) => enterDoor(server.url, token);

  test('[LOGIN-3] a token that one server gave opens the door of the other', async () => {
    const { client, tokens } = await logIn();
    expect(await enter(other, tokens.access_token)).toBe(200);
    const { status, json } = await client.refresh(tokens.refresh_token, {}, other.url);
    expect(status).toBe(200);
    expect(await enter(one, json.access_token)).toBe(200);
  });

  test('[LOGIN-3] of refreshes at both servers at once at most one succeeds, and then nothing of the family is left on either', async () => {
    const { client, tokens } = await logIn();
    expect(await enter(one, tokens.access_token)).toBe(200);
    expect(await enter(other, tokens.access_token)).toBe(200);
    const servers = [one, other, one, other, one, other];
    const answers = await Promise.all(servers.map(({ url }) => client.refresh(tokens.refresh_token, {}, url)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeLessThanOrEqual(1);
    for (const { json } of answers.filter(({ status }) => status !== 200)) expect(json.error).toBe('invalid_grant');
    for (const { json } of won)
      expect(await client.refresh(json.refresh_token, {}, other.url)).toMatchObject({ json: { error: 'invalid_grant' } });
    for (const token of [tokens.access_token, ...won.map(({ json }) => json.access_token)])
      for (const server of [one, other]) await until(async () => (await enter(server, token)) === 401);
  });

  test('[LOGIN-5] a login that is revoked at one server is over at the other', async () => {
    const { client, tokens } = await logIn();
    expect(await enter(other, tokens.access_token)).toBe(200);
    expect(await client.revoke(tokens.access_token, one.url)).toBe(200);
    expect(await enter(one, tokens.access_token)).toBe(401);
    await until(async () => (await enter(other, tokens.access_token)) === 401);
  });

  test('[LOGIN-4] a login that both servers use is renewed at the provider by one of them at a time', async () => {
    const { tokens } = await logIn();
    provider.refreshes.splice(0);
    const { gid } = decodeJwt(tokens.access_token);
    expect(gid).toEqual(expect.any(String));
    await until(async () => {
      const statuses = await Promise.all([one, other, one, other].map((server) => enter(server, tokens.access_token)));
      expect(statuses).toEqual([200, 200, 200, 200]);
      return provider.refreshes.length >= 2;
    });
    // The provider takes each refresh token once, as many do.
    expect(new Set(provider.refreshes).size).toBe(provider.refreshes.length);
  });
});

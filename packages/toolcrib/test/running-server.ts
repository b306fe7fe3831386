import { randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer, type RunningServer } from '../src/server/start-server.ts';
import type { ServeConfig } from '../src/server/server-config.ts';
import { ApiClient } from './fixtures/api-client.ts';
import { startTokenIssuer } from './fixtures/token-issuer.ts';

export interface TemporaryDirectory extends AsyncDisposable {
  path: string;
}

export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'toolcrib-e2e-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly running: RunningServer;
  /** A client with the token of a development user: alice, bob or admin. */
  as(username: string): Promise<ApiClient>;
  /** A client with this token, or with none. */
  client(token?: string): ApiClient;
}

/** For servers that share a database: all of them need the same. */
const sharedKeys = `shared:${randomBytes(32).toString('base64')}`;

/** The whole suite can be run through threads. */
const threads = process.env.TOOLCRIB_TEST_THREADS ?? '1';

/** The real server in this process, on a free port, with data of its own unless a directory is given. */
export async function startTestServer(config: Partial<ServeConfig> = {}): Promise<TestServer> {
  const own = config.dataDir === undefined ? await temporaryDirectory() : undefined;
  const dataDir = config.dataDir ?? own?.path ?? '';
  const running = await startServer({
    port: 0,
    threads: Number(threads),
    principalLimits: {},
    requestLimits: {},
    drainMs: 0,
    logLevel: 'silent',
    // Tests that are about approval say so.
    pinning: 'off',
    ...(config.databaseUrl === undefined ? {} : { keys: sharedKeys }),
    ...config,
    dataDir,
  });
  const { url, mint } = running;
  return {
    url,
    dataDir,
    running,
    client: (token) => new ApiClient(url, token),
    async as(username) {
      if (mint === undefined) throw new Error('This server has issuers of its own: use client() with a token of theirs');
      return new ApiClient(url, await mint(username));
    },
    async [Symbol.asyncDispose]() {
      await running.close();
      await own?.[Symbol.asyncDispose]();
    },
  };
}

/** Claims of somebody the policies of `startServerWithIssuer` let use the built-in tools, and of an administrator who may run programs. */
export const userClaims = { sub: 'user-1', realm_access: { roles: ['toolcrib-user'] } };
export const adminClaims = { sub: 'admin-1', realm_access: { roles: ['toolcrib-user', 'toolcrib-admin', 'toolcrib-run'] } };

/** A group of all built-in tools, and a policy that gives it to every user, as a development server has them from the start. */
export async function grantBuiltinTools(admin: ApiClient): Promise<void> {
  await admin.post('/api/groups', { id: 'builtin-tools', name: 'Built-in tools', selectors: [{ source: 'builtin' }] });
  const matchers = [{ path: 'realm_access.roles', operator: 'contains', value: 'toolcrib-user' }];
  await admin.post('/api/policies', { id: 'users-use-builtin-tools', name: 'Users', matchers, groups: ['builtin-tools'] });
}

/** The setting that gives an issuer beside others its administrators. */
export const administering = { admin_claim: 'realm_access.roles=toolcrib-admin', run_claim: 'realm_access.roles=toolcrib-run' };

/** [OPS-1] What `/metrics` of a server with an issuer asks for. */
export const metricsToken = 'metrics-of-the-tests';

/** A server that trusts an issuer of the test's own, which signs whatever claims the test wants, beside those of `config`. */
export async function startServerWithIssuer({ issuers = [], ...config }: Partial<ServeConfig> = {}) {
  const issuer = await startTokenIssuer();
  const server = await startTestServer({
    issuers: [{ ...issuer.config, ...administering }, ...issuers],
    allowedNetworks: ['loopback'],
    metricsToken,
    ...config,
  });
  const signedIn = async (claims: Record<string, unknown>) => server.client(await issuer.sign(claims));
  await grantBuiltinTools(await signedIn(adminClaims));
  return {
    issuer,
    server,
    metrics: async () => (await server.client(metricsToken).get('/metrics')).text,
    /** A client with a token that has these claims. */
    signedIn,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcess;
  /** The output on standard error so far, one entry per line. */
  readonly log: string[];
  /** How it ended: its exit code, or the signal that ended it. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  client(token?: string): ApiClient;
}

const lookAgainMs = 5;
const launcher = join(import.meta.dirname, '..', 'bin', 'toolcrib.cjs');

/**
 * The real server as a process of its own, to be killed. Resolves when it says that it is serving. `byWayOf` is a program that changes
 * something and then becomes it.
 */
export async function spawnServer(args: string[], env: Record<string, string> = {}, byWayOf: string[] = []): Promise<ServerProcess> {
  const command = [process.execPath, launcher, 'serve', '--port', '0', '--no-demo', '--log-level', 'info', ...args];
  const [program = '', ...rest] = [...byWayOf, ...command];
  const child = spawn(program, rest, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TOOLCRIB_PINNING: 'off',
      TOOLCRIB_THREADS: threads,
      ...(args.includes('--database') && { TOOLCRIB_KEYS: sharedKeys }),
      ...env,
    },
  });
  const ended = once(child, 'exit').then(([code, signal]) => ({ code: code as number | null, signal: signal as NodeJS.Signals | null }));
  const log: string[] = [];
  const { promise: serving, resolve, reject } = Promise.withResolvers<string>();
  createInterface({ input: child.stderr })
    .on('line', (line) => {
      log.push(line);
      if (line.includes('"msg":"serving"')) resolve((JSON.parse(line) as { url: string }).url);
    })
    .on('close', () => reject(new Error(`The server ended before it served:\n${log.join('\n')}`)));
  const url = await serving;
  return {
    url,
    child,
    log,
    ended,
    client: (token) => new ApiClient(url, token),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The secret that shows a client to be of the user who runs a development server. */
async function devSecret(url: string): Promise<string> {
  const metadata = await fetch(`${url}/dev/.well-known/openid-configuration`);
  const { toolcrib_secret_file: file } = (await metadata.json()) as { toolcrib_secret_file: string };
  return (await readFile(file, 'utf8')).trim();
}

/** The client with which the gateway exchanges tokens in development. */
export async function devClient(url: string): Promise<{ client_id: string; client_secret: string }> {
  const headers = { authorization: `Basic ${btoa(`toolcrib-cli:${await devSecret(url)}`)}` };
  return (await (await fetch(`${url}/dev/client`, { headers })).json()) as { client_id: string; client_secret: string };
}

/** A development user's token, asked for as a client does. */
export async function devToken(url: string, username: string): Promise<string> {
  const client = { client_id: 'toolcrib-cli', client_secret: await devSecret(url) };
  const body = new URLSearchParams({ grant_type: 'password', username, ...client });
  const response = await fetch(`${url}/dev/token`, { method: 'POST', body });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}

/** Asks until there is an answer. The growing pause leaves the processor to what is waited for, which may be slow on a busy machine. */
export async function until<Answer>(ask: () => Promise<Answer | undefined | false>, giveUpAfterMs = 60_000): Promise<Answer> {
  const giveUpAt = performance.now() + giveUpAfterMs;
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > giveUpAt) throw new Error(`Nothing of the kind was seen within ${giveUpAfterMs} ms`);
    await delay(pauseMs);
  }
}

/** Looks until it is so, at something that costs next to nothing to look at. */
export function untilSeen(look: () => boolean, giveUpAfterMs = 60_000): Promise<boolean> {
  return until(async () => {
    await delay(lookAgainMs);
    return look();
  }, giveUpAfterMs);
}

import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startForwardProxy } from '../fixtures/forward-proxy.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { startTokenIssuer } from '../fixtures/token-issuer.ts';
import { part } from '../parts.ts';
import { startTestServer, temporaryDirectory } from '../running-server.ts';
import { runToolcrib, type RunOptions } from './run-toolcrib.ts';

interface Report {
  ok: boolean;
  checks: { name: string; state: string; required: boolean; detail: string; cure?: string }[];
}

async function doctor(args: string[], options: RunOptions = {}) {
  const { code, stdout, stderr } = await runToolcrib(['doctor', '--json', '--port', '0', ...args], options);
  expect(stderr).toBe('');
  const report = JSON.parse(stdout) as Report;
  return { code, report, check: (name: string) => report.checks.find((check) => check.name === name) };
}

test('[CLI-1] doctor --json says for each check whether it passed, and what to do if not', async () => {
  await using folder = await temporaryDirectory();
  const { code, report, check } = await doctor([], { cwd: folder.path });
  expect({ code, ok: report.ok }).toEqual({ code: 0, ok: true });
  const names = report.checks.map(({ name }) => name);
  expect(names.slice(0, 8)).toEqual(['node', 'data folder', 'port', 'database', 'issuer', 'npx', 'uvx', 'docker']);
  for (const { state, cure } of report.checks) {
    expect(['ok', 'missing', 'broken']).toContain(state);
    expect(cure === undefined).toBe(state === 'ok');
  }
  expect(check('node')).toMatchObject({ state: 'ok', required: true, detail: expect.stringContaining(process.versions.node) });
  expect(check('data folder')).toMatchObject({ state: 'ok', detail: expect.stringMatching(/\.toolcrib will be created/) });
  expect(check('npx')?.required).toBe(false);
});

test('[CLI-1] doctor prints one aligned line for each check, and a verdict', async () => {
  await using folder = await temporaryDirectory();
  const { code, stdout } = await runToolcrib(['doctor', '--port', '0', '--data', folder.path]);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^ok {7}node +${process.versions.node}`));
  expect(stdout).toContain(`${folder.path} is writable`);
  expect(stdout).toMatch(/\nToolcrib can run here\.\n$/);
});

test('[CLI-1] missing programs that only some sources need do no harm, and the report says how to install them', async () => {
  await using empty = await temporaryDirectory();
  const { code, check } = await doctor([], { cwd: empty.path, env: { PATH: empty.path, DOCKER_HOST: `unix://${empty.path}/nobody.sock` } });
  expect(code).toBe(0);
  for (const name of ['npx', 'uvx', 'docker'])
    expect(check(name)).toMatchObject({ state: 'missing', required: false, cure: expect.any(String) });
  expect(check('docker daemon')).toBeUndefined();
});

test.skipIf(process.platform === 'win32')('[CLI-1] a program that is installed but fails is broken, and its error is shown', async () => {
  await using folder = await temporaryDirectory();
  const program = join(folder.path, 'docker');
  await writeFile(program, '#!/bin/sh\necho "Docker version 1"\n');
  await writeFile(join(folder.path, 'uvx'), '#!/bin/sh\necho "no uv here" >&2; exit 1\n');
  for (const name of ['docker', 'uvx']) await chmod(join(folder.path, name), 0o755);
  const nobody = `unix://${folder.path}/nobody.sock`;
  const { code, check } = await doctor(['--docker-host', nobody], { cwd: folder.path, env: { PATH: folder.path } });
  expect(code).toBe(0);
  expect(check('docker')).toMatchObject({ state: 'ok' });
  expect(check('uvx')).toMatchObject({ state: 'broken', detail: expect.stringContaining('no uv here') });
  const detail = expect.stringMatching(new RegExp(`^Docker not running\\. Nothing answers at ${nobody}`));
  expect(check('docker daemon')).toMatchObject({ state: 'broken', required: false, detail, cure: expect.any(String) });
});

const docker = part('docker');
test.skipIf(!docker.available)('[CLI-1] doctor asks the Docker daemon itself, even without the docker command', async () => {
  await using empty = await temporaryDirectory();
  const { check } = await doctor([], { cwd: empty.path, env: { PATH: empty.path } });
  expect(check('docker')).toMatchObject({ state: 'missing' });
  expect(check('docker daemon')).toMatchObject({ state: 'ok', detail: expect.stringMatching(/^\d+\./) });
});

describe('doctor reports as broken', () => {
  test('[CLI-1] a data folder that is a file', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    for (const data of [file, join(file, 'inside')]) {
      const { code, report, check } = await doctor(['--data', data]);
      expect({ code, ok: report.ok }).toEqual({ code: 1, ok: false });
      expect(check('data folder')).toMatchObject({ state: 'broken', cure: expect.stringContaining('--data') });
    }
  });

  test('[CLI-1] a port on which something else listens', async () => {
    await using other = await startHttpServer((_request, response) => response.end('hello'));
    const { code, check } = await doctor(['--port', String(other.port)]);
    expect(code).toBe(1);
    expect(check('port')).toMatchObject({ state: 'broken', detail: `something else listens on 127.0.0.1:${other.port}` });
  });

  test('[CLI-1] a database that nobody serves, without its password', async () => {
    const { code, report, check } = await doctor(['--database', 'postgres://crib:sesame@127.0.0.1:9/crib']);
    expect(code).toBe(1);
    expect(check('database')).toMatchObject({ state: 'broken', detail: expect.stringMatching(/127\.0\.0\.1:9\/crib cannot be used/) });
    expect(JSON.stringify(report)).not.toContain('sesame');
  });

  test('[CLI-1] an issuer that does not answer', async () => {
    const { code, check } = await doctor(['--issuer', 'http://127.0.0.1:9/realm']);
    expect(code).toBe(1);
    expect(check('issuer')).toMatchObject({ state: 'broken', detail: expect.stringContaining('http://127.0.0.1:9/realm') });
  });

  test('[ID-1] no issuer on an address that others reach', async () => {
    const { code, check } = await doctor(['--host', '0.0.0.0']);
    expect(code).toBe(1);
    expect(check('issuer')).toMatchObject({
      state: 'broken',
      detail: expect.stringContaining('loopback'),
      cure: expect.stringContaining('--issuer'),
    });
  });
});

test('[CLI-1] a Toolcrib that already listens on the port is fine', async () => {
  await using server = await startTestServer();
  const { code, check } = await doctor(['--port', new URL(server.url).port]);
  expect(code).toBe(0);
  expect(check('port')).toMatchObject({ state: 'ok', detail: `a Toolcrib answers at ${server.url}` });
});

test('[CLI-1] the keys of an issuer are fetched and counted', async () => {
  await using issuer = await startTokenIssuer();
  const { code, check } = await doctor([], { env: { TOOLCRIB_ISSUERS: issuer.issuer } });
  expect(code).toBe(0);
  expect(check('issuer')).toMatchObject({ state: 'ok', detail: `${issuer.issuer} has 1 key` });
});

test('[BFF-6] doctor says whose users administer, and that with several issuers it has to be configured', async () => {
  const [a, b] = ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'];
  const one = await doctor(['--issuer', a, '--admin-claim', 'groups=ops']);
  expect(one.check('administrators')).toMatchObject({ state: 'ok', detail: expect.stringContaining(`groups=ops of ${a}`) });
  const bound = await doctor([], { env: { TOOLCRIB_ISSUERS: JSON.stringify([{ issuer: a, admin_claim: 'groups=ops' }, { issuer: b }]) } });
  const detail = `groups=ops of ${a}, and none of them to start programs; none of ${b}`;
  expect(bound.check('administrators')).toMatchObject({ state: 'ok', detail });
  const unbound = await doctor(['--issuer', a, '--issuer', b]);
  expect(unbound.code).toBe(1);
  expect(unbound.check('administrators')).toMatchObject({ state: 'broken', cure: expect.stringContaining('admin_claim') });
});

const postgres = part('postgres');
test.skipIf(!postgres.available)('[CLI-1] a database that answers is shown with its version', async () => {
  const url = postgres.available ? postgres.url : '';
  const { code, check } = await doctor([], { env: { TOOLCRIB_DATABASE: url } });
  expect(code).toBe(0);
  expect(check('database')).toMatchObject({ state: 'ok', detail: expect.stringMatching(/^PostgreSQL \d+/) });
});

test('[CLI-1] [SEC-1] doctor says where the server may connect to and through which proxy, without its password', async () => {
  await using issuer = await startTokenIssuer();
  await using proxy = await startForwardProxy({ user: 'me:hidden' });
  const behind = ['--proxy', proxy.url.replace('//', '//me:hidden@'), '--no-proxy', 'corp.test', '--issuer', 'http://sso.test:1'];
  const { check, report } = await doctor([
    ...behind,
    '--issuer',
    issuer.issuer,
    '--allow-insecure-issuer',
    '--allow-network',
    '10.0.0.0/8',
  ]);
  expect(check('networks')).toMatchObject({ state: 'ok', detail: 'public addresses, and 10.0.0.0/8' });
  expect(check('proxy')).toMatchObject({ state: 'ok', detail: `${new URL(proxy.url).host}, except for corp.test` });
  expect(report.checks.filter(({ name, state }) => name === 'issuer' && state === 'ok')).toHaveLength(1);
  expect(proxy.seen).toEqual(['GET http://sso.test:1/.well-known/openid-configuration']);
  expect(JSON.stringify(report)).not.toContain('hidden');
  expect((await doctor([])).check('networks')).toMatchObject({ detail: 'public addresses, and loopback, private (with a warning)' });
  expect((await doctor(['--issuer', issuer.issuer])).check('networks')).toMatchObject({ detail: 'public addresses only' });
});

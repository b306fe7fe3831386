import { existsSync } from 'node:fs';
import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runRulesSchema } from '../../src/model/run-rules.ts';
import { fixture } from '../fixtures/open-server.ts';
import { adminClaims, startServerWithIssuer, startTestServer, temporaryDirectory } from '../running-server.ts';

const stdio = { type: 'stdio' };

/** A server that is a script of bash, which runs whatever file `BASH_ENV` names before it. */
async function bashServer(folder: string) {
  const [script, hook, marker] = ['server.sh', 'hook.sh', 'ran'].map((name) => join(folder, name)) as [string, string, string];
  await writeFile(script, `#!/bin/bash\nexec ${fixture('plain').join(' ')}\n`, { mode: 0o755 });
  await writeFile(hook, `echo hook > '${marker}'\n`);
  return { script, hook, marker };
}

test('[SEC-2] [ENV-6] a variable that is only declared, and set as a secret later, must be named by the rules', async () => {
  await using directory = await temporaryDirectory();
  const folder = await realpath(directory.path);
  const dataDir = join(folder, 'data');
  const { script, hook, marker } = await bashServer(folder);
  const mcp = { package: { package_type: 'binary', identifier: script }, transport: stdio, env_vars: { BASH_ENV: { is_secret: true } } };
  {
    await using server = await startTestServer({ dataDir });
    const { json } = await (await server.as('admin')).post('/api/sources?wait=20000', { name: 'Declared', mcp });
    expect(json.status.state).toBe('running');
  }
  const runRules = runRulesSchema.parse({ runtimes: ['program'], programs: [script], variables: ['*'], same_user: true });
  await using production = await startServerWithIssuer({ dataDir, runRules });
  const runner = await production.signedIn(adminClaims);
  const { id } = (await runner.get('/api/sources/declared')).json;
  expect((await runner.put(`/api/secrets/mcp_${id}.BASH_ENV`, { value: hook })).status).toBe(201);

  const started = await runner.post('/api/sources/declared/restart', undefined);
  expect([started.status, started.json.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  const { status } = (await runner.get('/api/sources/declared')).json;
  expect(status).toMatchObject({ state: 'error', message: expect.stringContaining('add BASH_ENV to `variables`') });

  const refused = { code: 'FORBIDDEN', field: 'environment.BASH_ENV', message: expect.stringContaining('add BASH_ENV to `variables`') };
  const again = await runner.post('/api/sources', { name: 'Again', mcp });
  expect([again.status, again.json]).toEqual([403, expect.objectContaining(refused)]);
  const tried = await runner.post('/api/sources/preview?discover=true', { name: 'Again', mcp });
  expect(tried.json).toMatchObject({ tools: null, error: refused });
  expect(existsSync(marker)).toBe(false);
});

test('[SEC-2] [ENV-6] a variable that the rules do not name keeps a server from starting, whenever it gets a value', async () => {
  const [node = '', program = ''] = fixture();
  const runRules = runRulesSchema.parse({ runtimes: ['node'], programs: [node, program], variables: ['ACME_*'], same_user: true });
  await using production = await startServerWithIssuer({ runRules });
  const runner = await production.signedIn(adminClaims);
  const form = (env_vars: object) => ({
    name: 'Echo',
    mcp_lifecycle_mode: 'singleton',
    mcp: { package: { package_type: 'binary', identifier: program, runtime_hint: 'node', args: ['plain'] }, transport: stdio, env_vars },
  });
  const refused = await runner.post('/api/sources', form({ OTHER: { value: '1' } }));
  expect([refused.status, refused.json]).toEqual([
    403,
    expect.objectContaining({ message: expect.stringContaining('They allow: ACME_*. To allow it, add OTHER to `variables`') }),
  ]);
  const { json } = await runner.post('/api/sources?wait=20000', form({ ACME_TOKEN: { value: '1' }, LATER: { is_secret: true } }));
  expect(json.status.state).toBe('running');
  await runner.put(`/api/secrets/mcp_${json.id}.LATER`, { value: 'something' });
  expect((await runner.post('/api/sources/echo/restart', undefined)).json.message).toContain('the variable LATER');
  expect((await runner.get('/api/sources/echo')).json.status).toMatchObject({ state: 'error' });
  await runner.delete(`/api/secrets/mcp_${json.id}.LATER?force=true`);
  expect((await runner.post('/api/sources/echo/restart', undefined)).status).toBe(200);
});

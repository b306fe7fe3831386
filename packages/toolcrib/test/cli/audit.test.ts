import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../running-server.ts';
import { runToolcrib } from './run-toolcrib.ts';
import { startServing } from './serving.ts';

describe('[SEC-4] toolcrib audit', () => {
  let server: Awaited<ReturnType<typeof startServing>>;
  beforeAll(async () => {
    server = await startServing();
    for (let count = 0; count < 3; count++) await run('call', 'builtin:uuid', '--as', 'alice');
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const run = (...args: string[]) => runToolcrib(args, { env: { TOOLCRIB_URL: server.url } });

  test('[CLI-1] verify says that the record is unchanged, and which heads to note', async () => {
    const { code, stdout, stderr } = await run('audit', 'verify');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^calls +as written +3 rows in 1 chain\nchanges +as written +\d+ rows in 1 chain\nrefusals +as written/);
    const head = /^ {2}(calls:\S+)$/m.exec(stderr)?.[1] ?? '';
    const again = await run('audit', 'verify', '--expect', head);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('All expected heads are there.') });
    expect(await run('audit', 'verify', '--expect', head.replace(':3:', ':4:'))).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^calls +1 problem/),
      stderr: expect.stringMatching(/^toolcrib: calls: chain \d+, row 4: the end was cut off/),
    });
    expect(await run('audit', 'verify', '--expect', 'calls')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('A head looks like'),
    });
  });

  test('[CLI-1] export prints the rows asked for, one per line', async () => {
    const { code, stdout } = await run('audit', 'export', '--ledger', 'calls', '--ledger', 'refusals', '--from', '2026-01-01');
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { tool: string }).tool)).toEqual(['builtin:uuid', 'builtin:uuid', 'builtin:uuid']);
    expect(await run('audit', 'export', '--until', '2026-01-01T00:00:00Z')).toMatchObject({ code: 0, stdout: '' });
    expect(await run('audit', 'export', '--from', 'yesterday')).toMatchObject({ code: 2, stderr: expect.stringContaining('--from') });
    expect(await run('audit', 'export', '--ledger', 'secrets')).toMatchObject({ code: 2, stderr: expect.stringContaining('--ledger') });
  });

  test('[BFF-6] is refused for anyone but administrators', async () => {
    const { stdout: token } = await run('token', 'alice');
    for (const what of ['verify', 'export']) {
      expect(await run('audit', what, '--token', token.trim())).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('administrators'),
      });
    }
  });
});

test('[SEC-4] [SEC-3] after `secrets rekey --new-key` the old chains verify, new ones begin, and an edit is still found', async () => {
  await using data = await temporaryDirectory();
  const serve = () => startServing(['--data', data.path]);
  const verify = async () => {
    await using server = await serve();
    const run = (...args: string[]) => runToolcrib(args, { env: { TOOLCRIB_URL: server.url } });
    await run('secrets', 'set', 'one', '--value', 'a-value');
    await run('call', 'builtin:uuid', '--as', 'alice');
    // Awaited here, while there is a server.
    return await run('audit', 'verify', '--json');
  };
  expect(await verify()).toMatchObject({ code: 0, stderr: '' });
  expect(await runToolcrib(['secrets', 'rekey', '--new-key', '--data', data.path])).toMatchObject({ code: 0 });
  const { code, stdout } = await verify();
  expect(code).toBe(0);
  expect(JSON.parse(stdout).ledgers).toMatchObject([{ rows: 2, chains: 2 }, { chains: 2 }, { rows: 0 }]);
  const database = new DatabaseSync(join(data.path, 'toolcrib.db'));
  database.exec("update events set actor = 'nobody' where kind = 'secrets-rekeyed'");
  database.close();
  const edited = await verify();
  expect(edited.code).toBe(1);
  expect(JSON.parse(edited.stdout).ledgers[1].problems).toMatchObject([{ seq: 1, problem: 'the row was changed' }]);
});

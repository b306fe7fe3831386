import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiClient } from '../fixtures/api-client.ts';
import { startHttpServer } from '../fixtures/http-server.ts';
import { until } from '../running-server.ts';
import { runToolcrib, startToolcrib, type RunOptions } from './run-toolcrib.ts';
import { startServing } from './serving.ts';

let server: Awaited<ReturnType<typeof startServing>>;
beforeAll(async () => {
  server = await startServing();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (args: string[], options: RunOptions = {}) =>
  runToolcrib(args, { ...options, env: { TOOLCRIB_URL: server.url, ...options.env } });

describe('toolcrib call', () => {
  test.each([
    ['a JSON object', ['{"expression": "6 * 7"}'], ''],
    ['standard input', ['-'], '{"expression": "6 * 7"}'],
    ['single values', ['--arg', 'expression=6 * 7'], ''],
  ])('[CLI-1] [EXEC-5] takes its arguments as %s and prints the answer as YAML', async (_form, args, input) => {
    expect(await run(['call', 'builtin:calculator', '--as', 'alice', ...args], { input })).toMatchObject({
      code: 0,
      stdout: 'result: 42\n',
      stderr: '',
    });
  });

  test('[CLI-1] prints the whole answer with --json', async () => {
    const { code, stdout } = await run(['call', 'builtin.calculator', '--arg', 'expression=2^10', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      tool: 'builtin:calculator',
      success: true,
      result: { result: 1024 },
      call_id: expect.any(String),
    });
  });

  test('[CLI-1] ends with 1 and the message when the call fails', async () => {
    const failed = await run(['call', 'builtin:calculator', '--arg', 'expression=6 *', '--as', 'alice']);
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^toolcrib: The tool reported: .*of the expression\.\n$/),
    });
    const whole = await run(['call', 'builtin:calculator', '--arg', 'expression=6 *', '--as', 'alice', '--json']);
    expect(whole).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(whole.stdout)).toMatchObject({ success: false, is_error: true });
  });

  test.each([
    ['a tool that is not there', ['builtin:nonsense'], 'There is no such tool for you. `toolcrib tools` lists those you may use.'],
    [
      'a tool whose name is misspelt',
      ['builtin:calculater'],
      'There is no such tool for you. Did you mean builtin:calculator? `toolcrib tools` lists those you may use.',
    ],
    ['arguments that do not fit', ['builtin:calculator', '{"expression": 1}'], 'arguments.expression must be string'],
    [
      'a number that was meant as text',
      ['builtin:calculator', '--arg', 'expression=5'],
      `arguments.expression must be string: write --arg 'expression="5"'`,
    ],
    [
      'an argument whose name is misspelt',
      ['builtin:calculator', '--arg', 'expresion=5'],
      'arguments.expression is required; arguments.expresion is not a parameter of this tool',
    ],
  ])('[CLI-1] refuses %s with exit code 1 and says how to do it', async (_case, args, reason) => {
    const { code, stdout, stderr } = await run(['call', ...args, '--as', 'alice']);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `toolcrib: ${reason}\n` });
  });

  test('[CLI-1] suggests how to write an --arg that was read as JSON by mistake', async () => {
    expect(await run(['call', 'builtin:calculator', '--arg', 'expression="5"', '--as', 'alice'])).toMatchObject({
      code: 0,
      stdout: 'result: 5\n',
    });
  });

  test('[CLI-1] shows progress on stderr with --stream', async () => {
    const { code, stdout, stderr } = await run(['call', 'builtin:wait', '--arg', 'seconds=1.2', '--stream', '--as', 'alice']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'waited_seconds: 1.2\n', stderr: '1 of 1.2\n1.2 of 1.2\n' });
  });

  test('[CLI-1] shows a refusal with --stream as without it', async () => {
    expect(await run(['call', 'a:b', '--stream', '--as', 'alice'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('no such tool'),
    });
  });

  test('[CLI-1] ends a call that takes longer than --timeout', async () => {
    const { code, stderr } = await run(['call', 'builtin:wait', '--arg', 'seconds=100', '--timeout', '50', '--as', 'alice']);
    expect(code).toBe(1);
    expect(stderr).toContain('(NETWORK_ERROR)');
  });

  test('[CLI-1] cancels the call at the server on Ctrl-C', async () => {
    const args = ['call', 'builtin:wait', '--arg', 'seconds=100', '--stream', '--as', 'bob'];
    await using program = startToolcrib(args, { env: { TOOLCRIB_URL: server.url } });
    await program.printed('1 of 100', 'stderr');
    program.child.kill('SIGINT');
    expect(await program.ended).toMatchObject({ code: 130, stdout: '', stderr: expect.stringMatching(/toolcrib: Cancelled\n$/) });
    const admin = new ApiClient(server.url, (await run(['token', 'admin'])).stdout.trim());
    const { tool } = await until(async () => (await admin.get('/api/calls?status=cancelled')).json.calls[0]);
    expect(tool).toBe('builtin:wait');
  });

  test('[CLI-1] hangs up on Ctrl-C when the server does not answer', async () => {
    const { promise: called, resolve: onCall } = Promise.withResolvers<void>();
    const { promise: hungUp, resolve: onHangUp } = Promise.withResolvers<void>();
    await using silent = await startHttpServer((request, response) => {
      response.on('close', onHangUp);
      request.resume().on('end', onCall);
    });
    await using program = startToolcrib(['call', 'a:b', '--token', 'x', '--url', silent.origin]);
    await called;
    program.child.kill('SIGINT');
    expect(await program.ended).toMatchObject({ code: 130, stderr: 'toolcrib: Cancelled\n' });
    await hungUp;
  });
});

test.each([
  ['a stream', ['--stream'], 'text/event-stream', 'event: progress\ndata: {"progress": 1}\n\n'],
  ['an answer', [], 'application/json', '{"call_id": '],
])('[CLI-1] a connection that breaks in the middle of %s is reported in one line', async (_what, args, type, beginning) => {
  await using cut = await startHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': type }).write(beginning, () => response.destroy());
  });
  const { code, stdout, stderr } = await run(['call', 'a:b', '--token', 'x', '--url', cut.origin, ...args]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^(1\n)?toolcrib: The connection to \S+ broke before the answer was complete[^\n]*\n$/);
});

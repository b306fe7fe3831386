import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { EndSwitch } from '../../src/model/end-signal.ts';
import { createComputePool } from '../../src/threads/compute/compute-pool.ts';
import { contextOf, failureOf, openBuiltins, reasonOf, structuredOf, textOf } from './builtin-caller.ts';

/** Every worker thread started during a test, in order. */
let threads: Worker[] = [];
const onWorker = (worker: Worker) => threads.push(worker);
beforeEach(() => {
  threads = [];
  process.on('worker', onWorker);
});
afterEach(() => {
  process.off('worker', onWorker);
});

/** Some 2,000 values; a filter that scans the root for each of them, several times over, would run for hours. */
const wideData = { a: Array.from({ length: 400 }, (_, i) => ({ b: [i, i, i, { c: i }] })) };
const endless = '$..[?count($..*..*..*) > 0]';
const neverAborted = new AbortController().signal;
const endlessWork = { kind: 'json_query', data: JSON.stringify(wideData), query: endless } as const;
const quickWork = { kind: 'json_query', data: '{"a":1}', query: '$.a' } as const;
const quickOutcome = { structured: `{"matches":[{"path":"$['a']","value":1}],"truncated":false}`, text: "$['a']: 1" };

test.each([
  ['endless scans of the root', wideData, endless],
  ['a catastrophic regular expression', ['a'.repeat(60)], '$[?match(@, "(a+)+b")]'],
  ['memory without end', nested(150), '$[?count($..*..*..*..*) > 0]'],
])('[BI-1] a query with %s is stopped while other calls are answered', async (_, data, query) => {
  await using builtins = openBuiltins();
  const order: string[] = [];
  const hostile = builtins.call('json_query', { data, query }).finally(() => order.push('hostile'));
  const quick = builtins.call('json_query', { data: { a: 1 }, query: '$.a' }).finally(() => order.push('quick'));
  expect(structuredOf(builtins.callNow('calculator', { expression: '6 * 7' }))).toEqual({ result: 42 });
  expect(structuredOf(await quick)).toMatchObject({ matches: [{ value: 1 }] });
  expect(failureOf(await hostile)).toMatch(/(took longer than 2 seconds|needed more than 128 MB of memory) and was stopped/);
  expect(order).toEqual(['quick', 'hostile']);
});

test('[BI-1] text_diff of two long texts without a common line is stopped', async () => {
  await using builtins = openBuiltins();
  const lines = (word: string) => Array.from({ length: 60_000 }, (_, i) => word + i).join('\n');
  expect(failureOf(await builtins.call('text_diff', { before: lines('a'), after: lines('b') }))).toContain(
    'was stopped. Pass shorter texts',
  );
});

test('a thread that took too long is replaced, and there are never more threads than allowed', async () => {
  const pool = createComputePool({ workers: 1, timeLimitMs: 500 });
  expect(await pool.run(quickWork, 'a', neverAborted)).toEqual(quickOutcome);
  expect(await pool.run(quickWork, 'a', neverAborted)).toEqual(quickOutcome);
  expect(threads).toHaveLength(1);
  expect(await pool.run(endlessWork, 'a', neverAborted)).toEqual({ failure: 'It took longer than 0.5 seconds and was stopped.' });
  const next = pool.run(quickWork, 'a', neverAborted);
  // The one place is taken until the old thread has really ended.
  expect(threads).toHaveLength(1);
  await once(threads[0]!, 'exit');
  expect(await next).toEqual(quickOutcome);
  expect(threads).toHaveLength(2);
  await pool.close();
});

test('threads start with the first task, serve many, and none is left after closing', async () => {
  const builtins = openBuiltins();
  expect(threads).toHaveLength(0);
  const calls = Array.from({ length: 30 }, (_, i) => builtins.call('json_query', { data: [i], query: '$[0]' }));
  const answers = await Promise.all(calls);
  expect(answers.map(textOf)).toEqual(Array.from({ length: 30 }, (_, i) => `$[0]: ${i}`));
  expect(threads).toHaveLength(2);
  const running = reasonOf(builtins.call('json_query', { data: wideData, query: endless }));
  await builtins.close();
  expect(await running).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  // A thread that has ended has this id.
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  await expect(builtins.call('json_query', { data: 1, query: '$' })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(threads).toHaveLength(2);
});

test('cancelling ends the task at once, with the reason, and waiting ones are served', async () => {
  const pool = createComputePool({ workers: 1, timeLimitMs: 60_000 });
  expect(await pool.run(quickWork, 'a', neverAborted)).toEqual(quickOutcome);
  const caller = new AbortController();
  const reason = new Error('the caller went away');
  const running = reasonOf(pool.run(endlessWork, 'a', caller.signal));
  const waiting = reasonOf(pool.run(quickWork, 'a', caller.signal));
  const other = pool.run(quickWork, 'b', neverAborted);
  caller.abort(reason);
  expect(await running).toBe(reason);
  expect(await waiting).toBe(reason);
  expect(await other).toEqual(quickOutcome);
  await expect(pool.run(quickWork, 'a', caller.signal)).rejects.toBe(reason);
  await pool.close();
});

test('too many waiting calls are refused, and one caller cannot fill the queue', async () => {
  const pool = createComputePool({ workers: 1, mostWaiting: 4 });
  const run = (caller: string) => pool.run(quickWork, caller, neverAborted);
  const accepted = [run('a'), run('a')];
  await expect(run('a')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  accepted.push(run('b'), run('b'));
  await expect(run('c')).rejects.toMatchObject({ code: 'RATE_LIMITED', retryable: true, retryAfterMs: 2000 });
  expect(await Promise.all(accepted)).toEqual(Array.from({ length: 4 }, () => quickOutcome));
  expect(await pool.run(quickWork, 'c', neverAborted)).toEqual(quickOutcome);
  await pool.close();
});

test('idle threads do not keep a process alive that forgot to close them', async () => {
  const program = `
    import { createComputePool } from ${JSON.stringify(new URL('../../src/threads/compute/compute-pool.ts', import.meta.url).href)};
    const outcome = await createComputePool().run(${JSON.stringify(quickWork)}, 'a', new AbortController().signal);
    console.log(outcome.text);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(printed).toBe("$['a']: 1\n");
});

test('an aborted signal starts nothing', async () => {
  await using builtins = openBuiltins();
  const signal = new EndSwitch();
  signal.end(new Error('gone'));
  const context = contextOf({ signal });
  await expect(builtins.call('json_query', { data: 1, query: '$' }, context)).rejects.toThrow('gone');
  expect(threads).toHaveLength(0);
});

function nested(depth: number) {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

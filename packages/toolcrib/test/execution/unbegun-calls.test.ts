import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startUpkeep } from '../../src/administration/upkeep.ts';
import { claimRow } from '../../src/execution/answer-row.ts';
import type { ToolOutput } from '../../src/model/call.ts';
import { furnish, openDurableServer, type DurableServer } from '../fixtures/durable-server.ts';
import { samplePrincipal } from '../fixtures/samples.ts';
import { temporaryDirectory, type TemporaryDirectory, untilSeen } from '../running-server.ts';

const alice = samplePrincipal({ sub: 'alice' });
const key = { idempotencyKey: 'once' };
const done: ToolOutput = { content: [{ type: 'text', text: 'done' }] };

let directory: TemporaryDirectory;
let server: DurableServer;
let placed: number;
beforeEach(async () => {
  directory = await temporaryDirectory();
  const file = join(directory.path, 'toolcrib.db');
  await furnish(file);
  placed = 0;
  const place = async () => {
    placed++;
    return done;
  };
  server = await openDurableServer(file, { place, menu: place });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const admit = (tool = 'orders:place') => server.executor.admit(alice, { tool, arguments: {} });
const answerOf = async (callId: string) => (await server.keptCalls.find(alice, callId))?.answer;

/** As a server leaves it that is killed after it took the call, and before it noted it. */
async function claimedAndKilled(): Promise<string> {
  const admitted = await admit();
  await server.store.answers.claim(claimRow(admitted.call, admitted.args, key.idempotencyKey));
  server.executor.dismiss(admitted);
  return admitted.call.callId;
}

describe('[EXEC-9] [POLL-2] a call that could not be begun', () => {
  test('is refused, found as refused, recorded, and frees its key for the next try', async () => {
    server.run(`create trigger full before insert on durable_jobs begin select raise(abort, 'no room for jobs'); end`);
    const { callId, answer } = await server.keptCalls.begin(await admit(), key);
    await expect(answer).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await answerOf(callId)).toMatchObject({ status: 'failed', error: { retryable: true } });
    expect(await server.store.calls.get(callId)).toMatchObject({ status: 'failed', error_code: 'SERVICE_UNAVAILABLE' });
    server.run('drop trigger full');
    const again = await server.keptCalls.begin(await admit(), key);
    expect([again.repeated, (await again.answer).text]).toEqual([false, 'done']);
    expect(placed).toBe(1);
  });

  test.each(['orders:menu', 'orders:place'])('frees its key when it was stopped right before its source was called: %s', async (tool) => {
    const admitted = await admit(tool);
    server.acceptance.suspend('data-folder', 'The data folder is gone.');
    const { callId, answer } = await server.keptCalls.begin(admitted, key);
    expect(await answer).toMatchObject({ status: 'failed', error: { code: 'SERVICE_UNAVAILABLE', retryable: true } });
    server.acceptance.resume('data-folder');
    expect(await answerOf(callId)).toEqual(await answer);
    const again = await server.keptCalls.begin(await admit(tool), key);
    expect([again.repeated, (await again.answer).text]).toEqual([false, 'done']);
    expect((await server.keptCalls.begin(await admit(tool), key)).repeated).toBe(true);
    expect(placed).toBe(1);
  });

  test('frees its key even if the database accepts nothing for a while', async () => {
    for (const [name, event] of Object.entries({ jobs: 'insert on durable_jobs', answers: 'update on answers', begun: 'insert on calls' }))
      server.run(`create trigger full_${name} before ${event} begin select raise(abort, 'no room'); end`);
    const { callId, answer } = await server.keptCalls.begin(await admit(), key);
    await expect(answer).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await answerOf(callId)).toBeNull();
    for (const name of ['jobs', 'answers', 'begun']) server.run(`drop trigger full_${name}`);
    await untilSeen(() => server.answerKeeper.waiting === 0);
    expect(await answerOf(callId)).toMatchObject({ status: 'failed' });
    expect((await server.keptCalls.begin(await admit(), key)).repeated).toBe(false);
  });

  test('is not unknown after its server was killed: its key is free', async () => {
    const callId = await claimedAndKilled();
    await server.keptCalls.abandon({ except: await server.unfinished() });
    expect(await answerOf(callId)).toMatchObject({ status: 'failed', error: { retryable: true } });
    expect(await server.store.calls.get(callId)).toMatchObject({ status: 'failed', subject: 'alice' });
    const again = await server.keptCalls.begin(await admit(), key);
    expect([again.repeated, (await again.answer).text]).toEqual([false, 'done']);
  });

  test('can be cancelled, and is not begun after that', async () => {
    const admitted = await admit();
    await server.store.answers.claim(claimRow(admitted.call, admitted.args, null));
    const { callId } = admitted.call;
    expect(await server.keptCalls.cancelUnbegun({ ...alice, key: 'https://issuer.example bob' }, callId)).toBe(false);
    expect(await server.keptCalls.cancelUnbegun(alice, callId)).toBe(true);
    await expect(server.executor.run(admitted)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await answerOf(callId)).toMatchObject({ status: 'cancelled' });
    expect(await server.store.calls.get(callId)).toMatchObject({ status: 'cancelled' });
    expect([placed, await server.unfinished()]).toEqual([0, new Set()]);
  });
});

test('[SEC-4] calls of a killed server are looked for repeatedly, and get their record', async () => {
  const { call, args } = await admit('orders:menu');
  await server.store.answers.claim({ ...claimRow(call, args, 'lost'), deadline_at: 1 });
  let looked = 0;
  const abandonLost = async () => {
    await server.keptCalls.abandon({ deadlineBefore: Date.now() });
    looked++;
  };
  const days = { calls: 1, changes: 1, artifacts: 1 };
  const upkeep = startUpkeep({ store: server.store, days, abandonLost, warn: () => undefined, lostEveryMs: 5 });
  await untilSeen(() => looked > 1);
  upkeep.stop();
  server.executor.dismiss({ call, args });
  expect(await server.store.calls.get(call.callId)).toMatchObject({ status: 'unknown', subject: 'alice' });
  expect(await answerOf(call.callId)).toMatchObject({ status: 'unknown', error: { message: expect.stringContaining('may or may not') } });
});

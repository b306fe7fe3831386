import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UnknownOutcomeError } from '../../src/durable/unknown-outcome-error.ts';
import { stepCallId } from '../../src/execution/step-calls.ts';
import { inboundTokenOf } from '../../src/identity/inbound-token-of.ts';
import type { Answer, ToolOutput } from '../../src/model/call.ts';
import type { CribError } from '../../src/model/crib-error.ts';
import { InboundToken } from '../../src/model/inbound-token.ts';
import { ConnectionError } from '../../src/model/named-errors.ts';
import type { Principal } from '../../src/model/principal.ts';
import { furnish, openDurableServer, type Behaviour, type DurableServer } from '../fixtures/durable-server.ts';
import { samplePrincipal } from '../fixtures/samples.ts';
import { temporaryDirectory, until as untilAsked } from '../running-server.ts';

const secretToken = 'the-token-of-alice';
const alice: Principal = {
  ...samplePrincipal({ sub: 'alice' }),
  expiresAt: Date.now() + 3_600_000,
  token: new InboundToken(secretToken, 'its digest'),
};
const text = (said: string): ToolOutput => ({ content: [{ type: 'text', text: said }] });
/** SQLite answers at once: everything else has its turn in between. */
const until = <Value>(ask: () => Promise<Value | undefined | false>) =>
  untilAsked(async () => {
    await immediate();
    return ask();
  });
const stuck = () => new Promise<never>(() => {});

let file: string;
const cleanup: AsyncDisposable[] = [];
beforeEach(async () => {
  const directory = await temporaryDirectory();
  cleanup.push(directory);
  file = join(directory.path, 'toolcrib.db');
  await furnish(file);
});
afterEach(async () => {
  for (const resource of cleanup.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

async function open(behaviours: Record<string, Behaviour>): Promise<DurableServer> {
  const server = await openDurableServer(file, behaviours);
  cleanup.push(server);
  return server;
}

async function call(server: DurableServer, tool: string, args = {}): Promise<{ callId: string; answer: Promise<Answer> }> {
  const admitted = await server.executor.admit(alice, { tool, arguments: args });
  const answer = server.executor.run(admitted);
  answer.catch(() => undefined);
  return { callId: admitted.call.callId, answer };
}

const keptAnswer = ({ keptCalls }: DurableServer, callId: string) =>
  until(async () => (await keptCalls.find(alice, callId))?.answer ?? undefined);

/** Orders once, then waits for `ready`. */
function ordering(sent: string[], ready: () => Promise<unknown>): Behaviour {
  return async (args, { steps }) => {
    const id = await steps?.run('start', { repeatable: false }, async () => {
      sent.push(args['pizza'] as string);
      return 'order-7';
    });
    await ready();
    return text(`${id} is ready`);
  };
}

test('[POLL-2] the answer of a call that outlives its server is kept, and nothing else of it', async () => {
  const sent: string[] = [];
  const server = await open({ place: ordering(sent, async () => undefined) });
  const { callId, answer } = await call(server, 'orders:place', { pizza: 'margherita' });
  expect(await answer).toMatchObject({ call_id: callId, status: 'completed', text: 'order-7 is ready' });
  expect((await server.keptCalls.find(alice, callId))?.answer).toEqual(await answer);
  expect(await server.store.calls.get(callId)).toMatchObject({ status: 'completed', subject: 'alice' });
  expect(await server.unfinished()).toEqual(new Set());
});

test('[POLL-2] a call goes on after its server is gone: as the same caller, sent once, with one record', async () => {
  const sent: string[] = [];
  const first = await open({ place: ordering(sent, stuck) });
  const { callId } = await call(first, 'orders:place', { pizza: 'margherita' });
  await until(async () => sent.length === 1 && (await first.store.answers.get(callId)) !== undefined);
  const callers: Principal[] = [];
  const second = await open({
    place: (args, context) => {
      callers.push(context.principal);
      return ordering(sent, async () => undefined)(args, context);
    },
  });
  await second.keptCalls.abandon({ except: await second.unfinished() });
  expect((await second.keptCalls.find(alice, callId))?.answer).toBeNull();
  await second.recover();
  expect(await keptAnswer(second, callId)).toMatchObject({ call_id: callId, status: 'completed', text: 'order-7 is ready' });
  expect(sent).toEqual(['margherita']);
  expect(callers).toMatchObject([{ key: alice.key, claims: { sub: 'alice' }, expiresAt: alice.expiresAt }]);
  expect(String(inboundTokenOf(callers[0] as Principal, Date.now()))).toBe('[token]');
  expect(await second.store.calls.get(callId)).toMatchObject({ call_id: callId, status: 'completed' });
  await until(async () => (await second.unfinished()).size === 0);
});

test('[POLL-2] neither arguments nor results nor the caller’s token are readable in storage', async () => {
  const sent: string[] = [];
  const server = await open({ place: ordering(sent, stuck) });
  const { callId } = await call(server, 'orders:place', { pizza: 'a-secret-pizza' });
  await until(async () => (await server.unfinished()).has(callId) && sent.length === 1);
  await server[Symbol.asyncDispose]();
  cleanup.pop();
  const stored = await readFile(file, 'latin1');
  expect(stored).toContain(callId);
  for (const secret of ['a-secret-pizza', secretToken, 'order-7']) expect(stored).not.toContain(secret);
});

test('[POLL-2] a call that may have been sent and was not noted ends as unknown', async () => {
  let sent = 0;
  const first = await open({
    place: async (_args, { steps }) => {
      await steps?.run('start', { repeatable: false }, async () => {
        sent++;
        return stuck();
      });
      return text('never');
    },
  });
  const { callId } = await call(first, 'orders:place');
  await until(async () => sent === 1 && (await first.unfinished()).has(callId));
  const second = await open({ place: ordering([], async () => undefined) });
  await second.recover();
  const answer = await keptAnswer(second, callId);
  expect(answer).toMatchObject({ status: 'unknown', success: false, error: { code: 'SERVICE_UNAVAILABLE', retryable: false } });
  expect(answer.error?.message).toContain('may have taken effect');
  expect(await second.store.calls.get(callId)).toMatchObject({ status: 'unknown' });
});

test('[POLL-2] a call does not go on if its tool has changed', async () => {
  const sent: string[] = [];
  const first = await open({ place: ordering(sent, stuck) });
  const { callId } = await call(first, 'orders:place', { pizza: 'margherita' });
  await until(async () => sent.length === 1 && (await first.store.answers.get(callId)) !== undefined);
  const changed = await first.store.tools.get('tool-place');
  await first.store.tools.upsertMany([{ ...changed!, definition_hash: 'another' }]);
  const second = await open({ place: ordering(sent, async () => undefined) });
  await second.recover();
  expect(await keptAnswer(second, callId)).toMatchObject({ status: 'unknown' });
  expect(sent).toEqual(['margherita']);
  await until(async () => (await second.unfinished()).size === 0);
});

test('[WF-2] a server that stops leaves the call, and says where its answer will be', async () => {
  const asleep = Promise.withResolvers<void>();
  const flow: Behaviour = async (_args, { steps, signal }) => {
    await steps?.run('first', { repeatable: false }, async () => 'done');
    asleep.resolve();
    // A workflow that takes any failure for the tool's own must not be able to end the call.
    await steps?.sleep('pause', 200, signal).catch(() => undefined);
    return text('the end');
  };
  const first = await open({ run: flow });
  const { callId, answer } = await call(first, 'orders:run');
  await asleep.promise;
  first.executor.leaveDurable();
  expect(await answer).toMatchObject({ status: 'running', error: null, metadata: { location: `/api/bff/calls/${callId}` } });
  expect(await first.store.calls.get(callId)).toBeUndefined();
  const second = await open({ run: flow });
  await second.recover();
  expect(await keptAnswer(second, callId)).toMatchObject({ status: 'completed', text: 'the end' });
});

test('[POLL-2] a cancelled call does not go on', async () => {
  const sent: string[] = [];
  const server = await open({ place: ordering(sent, stuck) });
  const { callId, answer } = await call(server, 'orders:place');
  await until(async () => sent.length === 1 && server.executor.running(callId) !== undefined && (await server.unfinished()).size === 1);
  server.executor.running(callId)?.end('cancelled');
  expect(await answer).toMatchObject({ status: 'cancelled' });
  expect(await server.unfinished()).toEqual(new Set());
});

test('[EXEC-8] a call that runs in steps is not retried as a whole', async () => {
  let asked = 0;
  const server = await open({
    place: async () => {
      asked++;
      throw new ConnectionError('It is away');
    },
  });
  expect(await (await call(server, 'orders:place')).answer).toMatchObject({ status: 'failed', error: { code: 'NETWORK_ERROR' } });
  expect(asked).toBe(1);
});

test('[WF-1] a step acts as the caller under the caller’s policy, and is recorded as a call of its own', async () => {
  const server: DurableServer = await open({
    menu: async (_args, { principal }) => text(`the menu for ${principal.subject}`),
    run: async (_args, context) => {
      const menu = await server.stepCalls({ tool: 'orders:menu', arguments: {}, step: 'menu 1' }, context);
      const refused = await server
        .stepCalls({ tool: 'orders:secret', arguments: {}, step: 'secret 1' }, context)
        .catch((error: unknown) => error);
      return text(`${menu.text}; ${(refused as CribError).code}`);
    },
  });
  const { callId, answer } = await call(server, 'orders:run');
  expect(await answer).toMatchObject({ text: 'the menu for alice; NOT_FOUND' });
  expect(await server.store.calls.get(stepCallId(callId, 'menu 1'))).toMatchObject({ tool: 'orders:menu', status: 'completed' });
});

test('[WF-2] [SEC-4] the next step of a call waits while nothing is accepted, and neither runs nor fails', async () => {
  const asked: string[] = [];
  const begun = Promise.withResolvers<void>();
  const server: DurableServer = await open({
    menu: async () => {
      asked.push('menu');
      return text('the menu');
    },
    run: async (_args, context) => {
      server.acceptance.suspend('record', 'The disk is full.');
      begun.resolve();
      const said = await context.steps?.run('menu', { repeatable: true }, async () => {
        const { status, text: shown } = await server.stepCalls({ tool: 'orders:menu', arguments: {}, step: 'menu' }, context);
        return `${status}: ${shown}`;
      });
      return text(String(said));
    },
  });
  const { callId, answer } = await call(server, 'orders:run');
  await begun.promise;
  // Time enough for the step to be asked for, or to fail.
  for (let turns = 0; turns < 50; turns++) await immediate();
  await expect(call(server, 'orders:menu')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect((await server.keptCalls.find(alice, callId))?.answer).toBeNull();
  expect(asked).toEqual([]);
  server.acceptance.resume('record');
  expect(await answer).toMatchObject({ status: 'completed', text: 'completed: the menu' });
  expect(await server.store.calls.get(stepCallId(callId, 'menu'))).toMatchObject({ status: 'completed' });
});

test('[WF-2] [SEC-4] a step that is stopped right before its source is called waits there', async () => {
  const server: DurableServer = await open({ menu: async () => text('the menu') });
  const request = { tool: 'orders:menu', arguments: {}, call_id: stepCallId('019a8b3c-1234-7abc-9def-0123456789ab', 'menu') };
  const admitted = await server.executor.admit(alice, request);
  server.acceptance.suspend('record', 'The disk is full.');
  const answer = server.executor.run(admitted);
  await until(async () => admitted.call.queued);
  expect(admitted.call.begun).toBe(false);
  server.acceptance.resume('record');
  expect(await answer).toMatchObject({ status: 'completed', text: 'the menu' });
});

test('[POLL-2] [SEC-4] a call that was left continues when calls are accepted again', async () => {
  const sent: string[] = [];
  const first = await open({ place: ordering(sent, stuck) });
  const { callId } = await call(first, 'orders:place', { pizza: 'margherita' });
  await until(async () => sent.length === 1 && (await first.store.answers.get(callId)) !== undefined);
  const asked: string[] = [];
  const second = await open({
    place: (args, context) => {
      asked.push('place');
      return ordering(sent, async () => undefined)(args, context);
    },
  });
  second.acceptance.suspend('data-folder', 'The data folder is gone.');
  await second.recover();
  await until(async () => second.executor.running(callId)?.queued === true);
  expect(asked).toEqual([]);
  second.acceptance.resume('data-folder');
  expect(await keptAnswer(second, callId)).toMatchObject({ status: 'completed', text: 'order-7 is ready' });
  expect(sent).toEqual(['margherita']);
});

test('[WF-2] a step that continues by itself after a crash is waited for, and not started again', async () => {
  const sent: string[] = [];
  const flow =
    (server: () => DurableServer): Behaviour =>
    async (_args, context) => {
      const placed = await context.steps?.run('place', { repeatable: true }, async () => {
        const { text: said } = await server().stepCalls({ tool: 'orders:place', arguments: { pizza: 'marinara' }, step: 'place' }, context);
        return said;
      });
      return text(`the flow says: ${placed}`);
    };
  const first: DurableServer = await open({ place: ordering(sent, stuck), run: flow(() => first) });
  const { callId } = await call(first, 'orders:run');
  const inner = stepCallId(callId, 'place');
  await until(async () => sent.length === 1 && (await first.unfinished()).has(inner));
  const second: DurableServer = await open({ place: ordering(sent, async () => undefined), run: flow(() => second) });
  await second.recover();
  expect(await keptAnswer(second, callId)).toMatchObject({ status: 'completed', text: 'the flow says: order-7 is ready' });
  expect(await keptAnswer(second, inner)).toMatchObject({ status: 'completed', text: 'order-7 is ready' });
  expect(sent).toEqual(['marinara']);
});

test('[WF-2] the id of a step is the same in every run, is unique, and is stored with its call', () => {
  const callId = '019a8b3c-1234-7abc-9def-0123456789ab';
  const ids = ['a', 'b', 'a 2'].map((step) => stepCallId(callId, step));
  expect(new Set(ids).size).toBe(3);
  expect(stepCallId(callId, 'a')).toBe(ids[0]);
  for (const id of ids) expect(id).toMatch(/^019a8b3c-1234-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('an unknown outcome has an error of its own', () => {
  expect(new UnknownOutcomeError('Who knows')).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: false,
    name: 'UnknownOutcomeError',
  });
});

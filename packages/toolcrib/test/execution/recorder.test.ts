import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createAcceptance, type Acceptance } from '../../src/execution/acceptance.ts';
import { createRecorder, type Recorder, type RecordWaiter } from '../../src/execution/recorder.ts';
import type { CallRecord } from '../../src/model/call.ts';

function aRecord(call_id: string): CallRecord {
  return {
    call_id,
    started_at: 0,
    duration_us: 0,
    issuer: 'https://issuer.test',
    subject: 'alice',
    client: null,
    tool_id: null,
    tool: 'files:read_file',
    source_id: null,
    definition_hash: null,
    policies: '',
    policy_revision: 1,
    status: 'completed',
    error_code: null,
    user_name: null,
    error_origin: null,
    door: null,
    agent: null,
  };
}

interface Batch {
  ids: string[];
  done: PromiseWithResolvers<void>;
}

interface Recording {
  recorder: Recorder;
  batches: Batch[];
  acceptance: Acceptance;
  warnings: string[];
}

/** A recorder whose writes end when the test says so. */
function recorderWithBatches({ stuckMs = 60_000 } = {}): Recording {
  const batches: Batch[] = [];
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const acceptance = createAcceptance({ warn });
  const recorder = createRecorder({
    append(records) {
      const batch = { ids: records.map(({ call_id }) => call_id), done: Promise.withResolvers<void>() };
      batches.push(batch);
      return batch.done.promise;
    },
    acceptance,
    troubleOf: (error) => (String(error).includes('disk full') ? 'The disk is full.' : undefined),
    isRejected: (error) => String(error).includes('bad value'),
    warn,
    stuckMs,
  });
  return { recorder, batches, acceptance, warnings };
}

/** The batch of that number, once there is one. */
async function batch({ batches }: Recording, index: number): Promise<Batch> {
  await expect.poll(() => batches.length, { timeout: 20_000 }).toBeGreaterThan(index);
  return batches[index] as Batch;
}

describe('the recorder', () => {
  test('writes a single finished call in the next turn', async () => {
    const { recorder, batches } = recorderWithBatches();
    const recorded = recorder.record(aRecord('a'));
    expect(batches).toEqual([]);
    await nextTurn();
    await Promise.resolve();
    expect(batches.map(({ ids }) => ids)).toEqual([['a']]);
    batches[0]?.done.resolve();
    expect(await recorded).toBe(true);
  });

  test('writes calls together that finish in one turn and the following ones, in order', async () => {
    const { recorder, batches } = recorderWithBatches();
    const recorded = ['a', 'b'].map((id) => recorder.record(aRecord(id)));
    await nextTurn();
    recorded.push(recorder.record(aRecord('c')));
    expect(batches).toEqual([]);
    await expect.poll(() => batches.length).toBe(1);
    expect(batches.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']]);
    batches[0]?.done.resolve();
    await Promise.all(recorded);
  });

  test('lets no call be answered before its write has ended', async () => {
    const { recorder, batches } = recorderWithBatches();
    let answered = false;
    const recorded = recorder.record(aRecord('a')).then(() => (answered = true));
    await nextTurn();
    await nextTurn();
    expect(batches).toHaveLength(1);
    expect(answered).toBe(false);
    batches[0]?.done.resolve();
    await recorded;
    expect(answered).toBe(true);
  });

  test('collects the next batch while one is being written, and never writes two at once', async () => {
    const { recorder, batches } = recorderWithBatches();
    const first = recorder.record(aRecord('a'));
    await nextTurn();
    const second = recorder.record(aRecord('b'));
    await nextTurn();
    const third = recorder.record(aRecord('c'));
    await nextTurn();
    expect(batches.map(({ ids }) => ids)).toEqual([['a']]);
    batches[0]?.done.resolve();
    await first;
    await nextTurn();
    expect(batches.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c']]);
    batches[1]?.done.resolve();
    await Promise.all([second, third]);
  });
});

describe('[SEC-4] a record that cannot be written', () => {
  test('is kept, and written before anything newer', async () => {
    const recording = recorderWithBatches();
    const { recorder, acceptance } = recording;
    const failed = Promise.all([recorder.record(aRecord('a')), recorder.record(aRecord('b'))]);
    (await batch(recording, 0)).done.reject(new Error('disk full'));
    expect(await failed).toEqual([false, false]);
    const later = recorder.record(aRecord('c'));
    expect(await later).toBe(false);
    const again = await batch(recording, 1);
    expect(again.ids.slice(0, 2)).toEqual(['a', 'b']);
    const confirmed = Promise.all(['a', 'b', 'c'].map((id) => recorder.confirm(id, 20_000)));
    again.done.resolve();
    if (again.ids.length < 3) (await batch(recording, 2)).done.resolve();
    expect(await confirmed).toEqual([true, true, true]);
    await expect.poll(() => acceptance.refusal()).toBeUndefined();
    expect(recording.batches.flatMap(({ ids }) => ids)).toEqual(['a', 'b', 'a', 'b', 'c']);
  });

  test('stops the server from accepting anything until it has been written', async () => {
    const recording = recorderWithBatches();
    const { recorder, acceptance, warnings } = recording;
    const recorded = recorder.record(aRecord('a'));
    (await batch(recording, 0)).done.reject(new Error('disk full'));
    await recorded;
    expect(acceptance.reasons()).toEqual(['The disk is full.']);
    (await batch(recording, 1)).done.reject(new Error('disk full'));
    const last = await batch(recording, 2);
    expect(acceptance.refusal()?.httpStatus).toBe(503);
    last.done.resolve();
    await expect.poll(() => acceptance.refusal()).toBeUndefined();
    expect(warnings.filter((message) => message.includes('disk full'))).toHaveLength(1);
  });

  test('delays its call no longer than that can wait', async () => {
    const recording = recorderWithBatches();
    const recorded = recording.recorder.record(aRecord('a'));
    (await batch(recording, 0)).done.reject(new Error('gone'));
    await recorded;
    expect(await recording.recorder.confirm('a', 1)).toBe(false);
    expect(recording.acceptance.reasons()).toEqual(['Calls cannot be recorded: the log says why.']);
  });

  test('is reported when the database is silent, and confirmed when it answers after all', async () => {
    const recording = recorderWithBatches({ stuckMs: 1 });
    const { recorder, acceptance } = recording;
    expect(await recorder.record(aRecord('a'))).toBe(false);
    expect(acceptance.reasons()).toEqual(['The database does not answer.']);
    expect(await recorder.record(aRecord('b'))).toBe(false);
    const confirmed = recorder.confirm('a', 20_000);
    (await batch(recording, 0)).done.resolve();
    expect(await confirmed).toBe(true);
    // Only the next write shows whether the database answers again.
    expect(acceptance.refusal()).toBeDefined();
    (await batch(recording, 1)).done.resolve();
    await expect.poll(() => acceptance.refusal()).toBeUndefined();
    expect(recording.batches.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
  });

  test('does not hold up the others if the database will never accept it', async () => {
    const recording = recorderWithBatches();
    const { recorder, acceptance, warnings } = recording;
    const recorded = Promise.all(['a', 'bad', 'c'].map((id) => recorder.record(aRecord(id))));
    (await batch(recording, 0)).done.reject(new Error('bad value'));
    await recorded;
    const confirmed = Promise.all(['a', 'bad', 'c'].map((id) => recorder.confirm(id, 20_000)));
    for (let index = 1; acceptance.refusal() !== undefined; index++) {
      const { ids, done } = await batch(recording, index);
      if (ids.includes('bad')) done.reject(new Error('bad value'));
      else done.resolve();
      await nextTurn();
      await nextTurn();
    }
    expect(await confirmed).toEqual([true, false, true]);
    expect(warnings.filter((message) => message.includes('"call_id":"bad"'))).toHaveLength(1);
  });
});

describe('draining the recorder', () => {
  test('waits for collected records and those being written', async () => {
    const { recorder, batches } = recorderWithBatches();
    let drained = false;
    const first = recorder.record(aRecord('a'));
    await nextTurn();
    const second = recorder.record(aRecord('b'));
    const draining = recorder.drain(20_000).then(() => (drained = true));
    await nextTurn();
    expect(drained).toBe(false);
    batches[0]?.done.resolve();
    await first;
    await nextTurn();
    expect(drained).toBe(false);
    batches[1]?.done.resolve();
    await Promise.all([second, draining]);
    expect(drained).toBe(true);
  });

  test('ends at once if there is nothing', async () => {
    const { recorder } = recorderWithBatches();
    expect(await recorder.drain(20_000)).toEqual([]);
  });

  test('tries once more, and returns the records that could not be written', async () => {
    const recording = recorderWithBatches();
    const recorded = recording.recorder.record(aRecord('a'));
    (await batch(recording, 0)).done.reject(new Error('disk full'));
    await recorded;
    const draining = recording.recorder.drain(500);
    (await batch(recording, 1)).done.reject(new Error('disk full'));
    expect(await draining).toEqual([aRecord('a')]);
  });
});

describe('waiting for a record without a promise', () => {
  test('is told once, after the write and never while it is added', async () => {
    const recording = recorderWithBatches();
    const told: boolean[] = [];
    const waiter: RecordWaiter = { recorded: (isDurable) => void told.push(isDurable) };
    recording.recorder.add(aRecord('a'), waiter);
    const { done } = await batch(recording, 0);
    expect(told).toEqual([]);
    done.resolve();
    await expect.poll(() => told).toEqual([true]);
  });

  test('is told in the same turn where the write is over when it returns', async () => {
    const written: string[] = [];
    const warn = () => undefined;
    const recorder = createRecorder({
      append(records) {
        written.push(...records.map(({ call_id }) => call_id));
        return undefined;
      },
      acceptance: createAcceptance({ warn }),
      troubleOf: () => undefined,
      isRejected: () => false,
      warn,
      mostTurns: 1,
    });
    const told: string[] = [];
    for (const id of ['a', 'b']) recorder.add(aRecord(id), { recorded: (isDurable) => void told.push(`${id} ${isDurable}`) });
    expect([...written, ...told]).toEqual([]);
    await nextTurn();
    expect([...written, ...told]).toEqual(['a', 'b', 'a true', 'b true']);
  });

  test('is told no where a write fails at once, and the record is written later', async () => {
    const written: string[] = [];
    let isFull = true;
    const warn = () => undefined;
    const acceptance = createAcceptance({ warn });
    const recorder = createRecorder({
      append(records) {
        if (isFull) throw new Error('disk full');
        written.push(...records.map(({ call_id }) => call_id));
        return undefined;
      },
      acceptance,
      troubleOf: () => 'The disk is full.',
      isRejected: () => false,
      warn,
      mostTurns: 1,
    });
    expect(await recorder.record(aRecord('a'))).toBe(false);
    expect(acceptance.reasons()).toEqual(['The disk is full.']);
    isFull = false;
    expect(await recorder.confirm('a', 20_000)).toBe(true);
    await expect.poll(() => acceptance.refusal()).toBeUndefined();
    expect(written).toEqual(['a']);
  });
});

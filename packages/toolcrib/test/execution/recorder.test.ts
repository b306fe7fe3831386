import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createRecorder, type Recorder } from '../../src/execution/recorder.ts';
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
  };
}

interface Batch {
  ids: string[];
  done: PromiseWithResolvers<void>;
}

/** A recorder whose writes end when the test says so. */
function recorderWithBatches(): { recorder: Recorder; batches: Batch[] } {
  const batches: Batch[] = [];
  const recorder = createRecorder({
    append(records) {
      const batch = { ids: records.map(({ call_id }) => call_id), done: Promise.withResolvers<void>() };
      batches.push(batch);
      return batch.done.promise;
    },
  });
  return { recorder, batches };
}

describe('the recorder', () => {
  test('writes what finished alone in the next turn', async () => {
    const { recorder, batches } = recorderWithBatches();
    const recorded = recorder.record(aRecord('a'));
    expect(batches).toEqual([]);
    await nextTurn();
    await Promise.resolve();
    expect(batches.map(({ ids }) => ids)).toEqual([['a']]);
    batches[0]?.done.resolve();
    await recorded;
  });

  test('writes together what finished in one turn and in those after it that brought more, in order', async () => {
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

  test('answers nobody before the write has ended', async () => {
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

  test('fails only the calls whose own batch failed', async () => {
    const { recorder, batches } = recorderWithBatches();
    const failing = Promise.allSettled([recorder.record(aRecord('a')), recorder.record(aRecord('b'))]);
    await expect.poll(() => batches.length).toBe(1);
    const next = recorder.record(aRecord('c'));
    batches[0]?.done.reject(new Error('disk full'));
    expect(await failing).toEqual([
      { status: 'rejected', reason: new Error('disk full') },
      { status: 'rejected', reason: new Error('disk full') },
    ]);
    await expect.poll(() => batches.length).toBe(2);
    batches[1]?.done.resolve();
    await next;
    expect(batches.map(({ ids }) => ids)).toEqual([['a', 'b'], ['c']]);
  });

  test('goes on after a write that failed at once', async () => {
    let attempts = 0;
    const recorder = createRecorder({
      append() {
        attempts++;
        if (attempts === 1) throw new Error('closed');
        return Promise.resolve();
      },
    });
    await expect(recorder.record(aRecord('a'))).rejects.toThrow('closed');
    await recorder.record(aRecord('b'));
    expect(attempts).toBe(2);
  });
});

describe('draining', () => {
  test('waits for what is collected and what is being written', async () => {
    const { recorder, batches } = recorderWithBatches();
    let drained = false;
    const first = recorder.record(aRecord('a'));
    await nextTurn();
    const second = recorder.record(aRecord('b'));
    const draining = recorder.drain().then(() => (drained = true));
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

  test('ends at once where there is nothing', async () => {
    const { recorder } = recorderWithBatches();
    expect(await recorder.drain()).toBeUndefined();
  });

  test('does not fail for a batch that failed long ago: its own calls have been told', async () => {
    const { recorder, batches } = recorderWithBatches();
    const failing = recorder.record(aRecord('a'));
    await nextTurn();
    batches[0]?.done.reject(new Error('disk full'));
    await expect(failing).rejects.toThrow('disk full');
    expect(await recorder.drain()).toBeUndefined();
  });
});
